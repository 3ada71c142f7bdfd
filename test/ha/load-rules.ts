/**
 * What people change while the work goes on: limits, pauses, windows, stops, cancels and retries. What closes something is
 * opened again soon, and at the end for sure: otherwise nothing would ever drain.
 */

import {
  type InstanceId,
  type RunId,
  type Scheduler,
  SchedulerError,
  shared,
  type TaskId,
  type WindowSpec,
} from "@signalbox/core";
import type pg from "pg";
import { OPEN_QUEUE, QUEUE, RESOURCES, STOP_CODE, STOPPED_TAG, work } from "./load-work.ts";
import type { Random } from "./random.ts";

export interface RuleDeps {
  readonly scheduler: Scheduler;
  readonly db: pg.Pool;
  readonly random: Random;
  /** The newest last. */
  readonly taskIds: readonly TaskId[];
  readonly runIds: readonly RunId[];
  /** Remembered before anything is closed, so that it is opened also where nobody knows whether it was. */
  readonly openLater: (open: () => Promise<unknown>) => void;
}

const A_DAY_MS = 86_400_000;

/** Answers what it is counted as, where it did not come to what it is there for. */
export type RuleChange = (deps: RuleDeps) => Promise<string | null>;

type Scope = Parameters<Scheduler["pause"]>[0];

/** Each as often as it stands here. */
export const RULES: readonly (readonly [string, RuleChange])[] = [
  ["pause of a queue", simply(pauseAQueue)],
  [
    "pause of a resource",
    simply(async (deps) => await pause(deps, { resource: deps.random.pick(RESOURCES) })),
  ],
  ["pause of a run", ofARun(-1, async (deps, runId) => await pause(deps, { runId }))],
  [
    "queue limit",
    simply(async ({ scheduler, random }) => await scheduler.setQueue(QUEUE, { limit: random.between(0, 3) })),
  ],
  [
    "queue weight",
    simply(
      async ({ scheduler, random }) => await scheduler.setQueue(OPEN_QUEUE, { weight: random.between(1, 4) }),
    ),
  ],
  [
    "key limit",
    simply(async ({ scheduler, random }) => await scheduler.setKeyLimit("customer:*", random.between(1, 3))),
  ],
  ["window", simply(putWindow)],
  ["window", simply(putWindow)],
  ["stop", putStop],
  ["release of a reservation", release],
  ["release of a reservation", release],
  ["release of a reservation", release],
  ["cancel", cancel],
  ["cancel", cancel],
  ["bulk cancel", simply(async ({ scheduler }) => await scheduler.cancelMany({ kind: "bulk" }))],
  [
    "cancel of a run",
    ofARun(
      -1,
      async ({ scheduler }, runId) => await scheduler.cancelRun(runId, { reason: "the load rests" }),
    ),
  ],
  ["retry", retry],
  ["retry", retry],
  ["bulk retry", simply(retryBulk)],
  [
    "retry of a run",
    ofARun(
      -2,
      async ({ scheduler }, runId) => await scheduler.retryMany({ runId, status: ["FAILED", "CANCELED"] }),
    ),
  ],
  [
    "run limit",
    ofARun(
      -1,
      async ({ scheduler, random }, runId) => await scheduler.setRunLimit(runId, random.between(1, 4)),
    ),
  ],
];

function simply(change: (deps: RuleDeps) => Promise<unknown>): RuleChange {
  return async (deps) => {
    await change(deps);
    return null;
  };
}

/** `at`: -1 is the newest. */
function ofARun(at: number, change: (deps: RuleDeps, runId: RunId) => Promise<unknown>): RuleChange {
  return async (deps) => {
    const runId = deps.runIds.at(at);
    if (runId === undefined) return "no run yet";
    await change(deps, runId);
    return null;
  };
}

async function pauseAQueue(deps: RuleDeps): Promise<void> {
  await pause(deps, { queue: deps.random.pick([QUEUE, OPEN_QUEUE]) });
}

async function pause({ scheduler, openLater }: RuleDeps, what: Scope): Promise<void> {
  openLater(async () => await scheduler.resume(what));
  await scheduler.pause(what, { reason: "the load rests" });
}

/** What ended lately, so that it does not grow. */
async function retryBulk({ scheduler }: RuleDeps): Promise<void> {
  const enqueuedSince = new Date(Date.now() - 10_000);
  await scheduler.retryMany({ kind: "bulk", status: ["FAILED", "CANCELED"], enqueuedSince });
}

/** A freeze that is over soon, or a maintenance window that opens soon. */
async function putWindow({ scheduler, random, openLater }: RuleDeps): Promise<void> {
  const queue = random.pick([QUEUE, OPEN_QUEUE]);
  const resource = random.pick(RESOURCES);
  const ofQueue = random.chance(0.5);
  const now = Date.now();
  const inAMoment = new Date(now + random.between(500, 1_500));
  const window: WindowSpec = random.chance(0.5)
    ? { kind: "freeze", from: new Date(now - 1_000), until: inAMoment }
    : { kind: "maintenance", from: inAMoment, until: new Date(now + 3_600_000) };
  const what = ofQueue ? { queue } : { resource };
  openLater(async () => await scheduler.setWindows(what, []));
  await scheduler.setWindows(what, [window]);
  // Somebody who waits for it.
  await scheduler.enqueue(work(random, ofQueue ? { queue } : { resources: [shared(resource)] }));
}

async function putStop({ scheduler, random, taskIds, openLater }: RuleDeps): Promise<string | null> {
  const taskId = taskIds.at(-random.between(1, 6));
  if (taskId === undefined) return "nothing to stop";
  openLater(async () => await scheduler.takeOffStop(taskId, "REVIEW"));
  await scheduler.putStop(taskId, "REVIEW", "somebody wants to look");
  return null;
}

async function release({ scheduler, db }: RuleDeps): Promise<string | null> {
  const { rows } = await db.query<{ name: string }>(
    "SELECT substr(scope, 10) AS name FROM signalbox.hold WHERE scope LIKE 'resource:%' AND reserved_for IS NOT NULL LIMIT 1",
  );
  const name = rows[0]?.name;
  if (name === undefined) return "nothing reserved";
  const released = await scheduler.releaseReservation(name, { reason: "nothing of it is at work any more" });
  return released ? null : "released by its end";
}

async function cancel({ scheduler, random, taskIds }: RuleDeps): Promise<string | null> {
  const taskId = taskIds.at(-random.between(1, 20));
  if (taskId === undefined) return "nothing to cancel";
  await scheduler.cancel(taskId, { reason: "the load changed its mind" });
  return null;
}

/** Most tasks of a moment ago are DONE or open: that they cannot be retried is the right answer. */
async function retry({ scheduler, random, taskIds }: RuleDeps): Promise<string | null> {
  const { taskRuns } = await scheduler.list({ status: ["FAILED", "CANCELED"], limit: 20 });
  // Not what was put there as old, to be pruned: it may be gone before it is asked for.
  const lately = taskRuns.filter(({ enqueuedAt }) => Date.now() - enqueuedAt.getTime() < A_DAY_MS);
  const id = lately.length > 0 ? random.pick(lately).taskId : taskIds.at(-1);
  if (id === undefined) return "nothing to retry";
  try {
    await scheduler.retry(id, { by: "the load" });
    return null;
  } catch (error) {
    if (error instanceof SchedulerError && error.code === "NOT_RETRYABLE") return "retry refused";
    throw error;
  }
}

/** Some of what begins with a stop, found by its tag: also what nobody knows of, since its answer was lost. */
export async function takeOffStops(scheduler: Scheduler): Promise<void> {
  const { taskRuns } = await scheduler.list({ status: ["PENDING"], tag: STOPPED_TAG, limit: 500 });
  for (const { taskId } of taskRuns) await scheduler.takeOffStop(taskId, STOP_CODE);
}

/**
 * Whatever the database says is closed, by whomever: what was opened may be closed again, where a standby that did not know of
 * it took over.
 */
export async function openAll({ scheduler, db }: Pick<RuleDeps, "scheduler" | "db">): Promise<void> {
  const { rows: pauses } = await db.query<Ruled>("SELECT over, name FROM signalbox.pause WHERE paused");
  for (const { over, name } of pauses) {
    const what = over === "queue" ? { queue: name } : { resource: name };
    await scheduler.resume(over === "run" ? { runId: name as RunId } : what);
  }
  const { rows: windows } = await db.query<Ruled>("SELECT over, name FROM signalbox.start_window");
  for (const { over, name } of windows)
    await scheduler.setWindows(over === "queue" ? { queue: name } : { resource: name }, []);
  const { rows: stops } = await db.query<{ taskId: TaskId; code: string }>(
    'SELECT task_id AS "taskId", code FROM signalbox.stop',
  );
  for (const { taskId, code } of stops) await scheduler.takeOffStop(taskId, code);
  await callAllBack({ scheduler, db });
}

/** Until the database says so: who was asked and lost its lease is asked for the same under another id, at any moment. */
export async function callAllBack({ scheduler, db }: Pick<RuleDeps, "scheduler" | "db">): Promise<void> {
  for (;;) {
    const { rows: drained } = await db.query<{ id: InstanceId }>(
      "SELECT boot_id AS id FROM signalbox.instance WHERE drain_requested_at IS NOT NULL",
    );
    if (drained.length === 0) return;
    for (const { id } of drained) await scheduler.callInstanceBack(id);
  }
}

interface Ruled {
  readonly over: "queue" | "resource" | "run";
  readonly name: string;
}
