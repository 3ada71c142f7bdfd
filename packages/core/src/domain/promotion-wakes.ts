/** What a pass has to wake after it: those behind whoever has left a gate, and those for whom time alone opens one. Pure. */

import type { Promotion } from "./admission.ts";
import type { TaskRunId } from "./ids.ts";
import type { PromotionPlan } from "./promotion.ts";
import { type Parking, parkingOf, type WaitingCause } from "./waiting-cause.ts";
import { type WakeKey, wakeOf, wakeRate, wakeResource, wakeRun, wakeWindow } from "./wake.ts";

/** What is parked under one woken key, in the order in which it may go. */
export interface ParkedFront extends Parking {
  readonly taskRunIds: readonly TaskRunId[];
  /** There is more behind the last one. */
  readonly goesOn: boolean;
}

/**
 * A claim wakes those who wait for the share of its run, but one that commits at this moment cannot see whom we park.
 * Its instance may be busy for hours with what it took, and nothing else would wake them.
 */
const LOOK_AGAIN_MS = 1_000;

/** The last one that was looked at has left this gate: whoever stands behind it may pass too. */
export function mayGoOn(front: ParkedFront, plan: PromotionPlan): boolean {
  const last = front.taskRunIds.at(-1);
  // One that could not be judged has left nothing, and the next pass would do no better.
  if (!front.goesOn || last === undefined || plan.failed.has(last)) return false;
  const cause = plan.waiting.get(last);
  if (cause === undefined) return !tookAlone(front, last, plan);
  // Where it waits for the same wake as before, those behind it do too, though by another gate of that run: all of them would be
  // moved from the one to the other, and back again with the next wake.
  return wakeOf(front) !== wakeOf(parkingOf(cause));
}

/** Whoever has the resource alone keeps out all who stand behind. */
function tookAlone(front: ParkedFront, taskRunId: TaskRunId, plan: PromotionPlan): boolean {
  if (front.blockedOn !== "RESOURCE_BUSY") return false;
  const promotion = plan.promote.find((each) => each.taskRunId === taskRunId);
  return promotion?.resourceSlots.some(({ name, slot }) => slot === 0 && name === front.blockedKey) === true;
}

/** Where time alone opens the gate, somebody must look at that time. */
export function timedWakes(plan: PromotionPlan, now: Date): readonly { key: WakeKey; dueAt: Date }[] {
  return [...plan.waiting.values()].flatMap((cause) => timedWake(cause, now) ?? []);
}

function timedWake(cause: WaitingCause, now: Date): { key: WakeKey; dueAt: Date } | null {
  if (cause.code === "WINDOW") {
    return cause.opensAt === null ? null : { key: wakeWindow(cause.scope), dueAt: cause.opensAt };
  }
  if (cause.code === "FAIR_SHARE") {
    return { key: wakeRun(cause.runId), dueAt: new Date(now.getTime() + LOOK_AGAIN_MS) };
  }
  if (cause.code !== "RATE_LIMIT") return null;
  // Taken and not started yet: it is free one period after its start, which cannot have been before now.
  return { key: wakeRate(cause.rate), dueAt: cause.freeAt ?? new Date(now.getTime() + cause.perMs) };
}

/** What it would have held: whoever waits there may go when it does not take it. */
export function gatesOf({ limitSlots, resourceSlots, rateSlot }: Promotion): readonly WakeKey[] {
  return [
    ...limitSlots.map(({ scope }) => scope),
    ...resourceSlots.map(({ name }) => wakeResource(name)),
    ...(rateSlot === null ? [] : [wakeRate(rateSlot.rate)]),
  ];
}
