/** The loops of a started instance: who runs which pass when, and what wakes whom. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { monotonicMs } from "../executors/monotonic.ts";
import { msUntilNextPoll } from "../store/outside-jobs/take.ts";
import { isAnyReady } from "../store/task-runs/claim.ts";
import { beginExecutions } from "./begin-execution.ts";
import { ClaimFront } from "./claim-front.ts";
import { claimOnce } from "./claimer.ts";
import type { EngineParts } from "./engine.ts";
import { createLoop, inParallel, type Loop } from "./loop.ts";
import { createNeighbours } from "./neighbours.ts";
import { freePolls, pollableKinds, takeDueOnce } from "./poller.ts";
import { type PromotionPass, promoteOnce } from "./promoter.ts";
import { pruneOnce } from "./pruner.ts";
import { failOverdueOnce } from "./queue-timer.ts";
import { reconcileOnce } from "./reconciler.ts";
import { rescueOnce } from "./rescuer.ts";
import { SweepPace } from "./sweep-pace.ts";
import type { Emit } from "./telemetry.ts";
import { watchOnce } from "./watcher.ts";

/** How often an instance looks at the database's own state. */
const WATCH_MS = 60_000;
/** However many slots are free: their inputs come as one value, which the server and Node can make only so long. */
const MOST_CLAIMED = 500;

export function promoterLoop({ pool, settings, wakeups, emit, onPassed, onError }: EngineParts): Loop {
  const pace = new SweepPace(settings.pollIntervalMs, monotonicMs());
  return createLoop({
    name: "promoter",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      const looks = pace.next(monotonicMs());
      const result = await promoteOnce({ pool, batchSize: settings.batchSize, ...looks });
      if (result.kind === "lock_missed") {
        pace.missed(looks, monotonicMs());
        emit({ type: "gate.lock_missed" });
        // Who has the lock may have read before what woke us: keep the wake.
        return { againInMs: 5 + Math.random() * 20 };
      }
      pace.passed(looks, result, monotonicMs());
      tellPromotions(emit, result);
      if (result.promoted.length > 0) wakeups.send("signalbox_ready");
      if (result.more) return { againInMs: 0 };
      const againInMs = pace.againInMs(result.nextDueMs, monotonicMs());
      return againInMs === null ? "rest" : { againInMs: Math.max(0, againInMs) + 1 };
    },
    onPassed,
    onError,
  });
}

type Passed = Extract<PromotionPass, { kind: "passed" }>;

function tellPromotions(emit: Emit, { promoted, demoted, failed, refused, unrefused }: Passed): void {
  for (const [taskRunId, error] of failed) emit({ type: "gate.failed", taskRunId, error });
  if (unrefused !== null) emit({ type: "loop.failed", loop: "promoter", error: unrefused });
  for (const { runId: _, ...taskRun } of refused) emit({ type: "task_run.out_of_order", ...taskRun });
  if (demoted.length > 0) emit({ type: "task_run.demoted", taskRunIds: demoted });
  if (promoted.length > 0) emit({ type: "task_run.promoted", taskRunIds: promoted });
}

export function claimerLoop(parts: EngineParts): Loop {
  const { pool, settings, executors, memberships, pace, wake, onPassed, onError } = parts;
  const kinds = [...executors.keys()];
  const front = new ClaimFront();
  return createLoop({
    name: "claimer",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      pace.begin();
      const life = memberships.current;
      if (life === null || !memberships.mayClaim) return "rest";
      const { instanceId, held, lease } = life;
      const { slots } = memberships;
      // Half of them at most: while the ends of these are recorded, the others are claimed.
      const atMost = Math.min(settings.batchSize, MOST_CLAIMED, Math.ceil(slots / 2));
      const claimed = await claimOnce({
        pool,
        instanceId,
        kinds,
        slots,
        batchSize: atMost,
        front,
        pace,
        held,
        // What comes while the instance leaves is not started: it goes back unharmed.
        isTrusted: () => lease.isTrusted() && memberships.mayClaim,
      });
      const isBounded = front.wasBounded();
      beginExecutions(parts, life, claimed);
      // Of their runs fewer are AVAILABLE now, and others may have waited for that.
      if (claimed.some(({ claim }) => claim.runId !== null)) wake("promoter");
      if (pace.tookAll || held.freeSlots(slots) < 1) return "rest";
      if (claimed.length >= atMost || isBounded) return { againInMs: 0 };
      // Rows that another instance was looking at were skipped, and it may have left some of them.
      if (await isAnyReady(pool, kinds)) return { againInMs: 5 + Math.random() * 20 };
      pace.foundNothing();
      return "rest";
    },
    onPassed,
    onError,
  });
}

/** Asks after the outside jobs that are due. */
export function pollerLoop(parts: EngineParts): Loop {
  const { pool, settings, executors, memberships, onPassed, onError } = parts;
  const kinds = pollableKinds(executors);
  return createLoop({
    name: "poller",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      const life = memberships.current;
      if (life === null || kinds.length === 0 || !memberships.mayClaim) return "rest";
      const { instanceId, held, lease } = life;
      const isTrusted = (): boolean => lease.isTrusted() && memberships.mayClaim;
      const taken = await takeDueOnce({ pool, instanceId, kinds, held, isTrusted });
      beginExecutions(parts, life, taken);
      // The first that has answered wakes us.
      if (freePolls(held) < 1) return "rest";
      return soon(await msUntilNextPoll(pool, kinds), settings.pollIntervalMs);
    },
    onPassed,
    onError,
  });
}

/** What has waited for too long. */
export function timerLoop({ pool, settings, wakeups, emit, onPassed, onError }: EngineParts): Loop {
  const { batchSize } = settings;
  return createLoop({
    name: "timer",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      const { failed, nextDueMs } = await failOverdueOnce({ pool, batchSize, emit });
      if (failed > 0) wakeups.send("signalbox_gate");
      return soon(nextDueMs, settings.pollIntervalMs);
    },
    onPassed,
    onError,
  });
}

/** What is due and was left alone is somebody else's: a pause keeps us from asking without end. */
const LEAST_PAUSE_MS = 20;

function soon(dueInMs: number | null, atMostMs: number): "rest" | { readonly againInMs: number } {
  if (dueInMs === null || dueInMs >= atMostMs) return "rest";
  return { againInMs: Math.max(LEAST_PAUSE_MS, dueInMs + 1) };
}

/** Two of them: what ends while one waits for the database is recorded by the other. */
export function settlerLoop(parts: EngineParts): Loop {
  return inParallel(["settler", "second settler"].map((name) => oneSettlerLoop(name, parts)));
}

function oneSettlerLoop(
  name: string,
  { settings, settler, pace, wakeups, wake, onPassed, onError }: EngineParts,
): Loop {
  return createLoop({
    name,
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      // Whatever ends in this turn of the event loop is recorded together.
      await nextTurn();
      const { left, freesSlots, opensGates, handsOff, letGo } = await settler.settleOnce();
      // Whoever hears nothing looks for itself.
      if (freesSlots && !(pace.tookAll && wakeups.hears())) wake("claimer");
      if (opensGates) wakeups.send("signalbox_gate");
      if (handsOff) wakeups.send("signalbox_ready");
      if (letGo) wake("poller");
      return left > 0 ? { againInMs: 0 } : "rest";
    },
    onPassed,
    onError,
  });
}

export function rescuerLoop({ pool, settings, wakeups, emit, onPassed, onError }: EngineParts): Loop {
  const { graceMs, batchSize } = settings;
  const neighbours = createNeighbours(pool, emit);
  return createLoop({
    name: "rescuer",
    intervalMs: settings.beatMs,
    pass: async () => {
      // It only saves waiting for a lease: what keeps it from that must not keep us from rescuing.
      await neighbours.expire().catch((error: unknown) => onError(error, "neighbours"));
      const rescued = await rescueOnce({ pool, graceMs, batchSize, emit });
      if (rescued === 0) return "rest";
      wakeups.send("signalbox_gate");
      return { againInMs: 0 };
    },
    onPassed,
    onError,
  });
}

export function reconcilerLoop({
  pool,
  settings,
  memberships,
  wakeups,
  emit,
  onPassed,
  onError,
}: EngineParts): Loop {
  return createLoop({
    name: "reconciler",
    // Woken by each renewal; this is only the bound.
    intervalMs: settings.leaseMs,
    pass: async () => {
      const life = memberships.current;
      if (life === null) return "rest";
      const back = await reconcileOnce({ pool, instanceId: life.instanceId, held: life.held, emit });
      if (back > 0) wakeups.send("signalbox_gate");
      return "rest";
    },
    onPassed,
    onError,
  });
}

/** Comes back as a new instance after the lease was lost. */
export function joinerLoop({ settings, memberships, wake, onPassed, onError }: EngineParts): Loop {
  return createLoop({
    name: "joiner",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      await memberships.join();
      wake("promoter");
      wake("claimer");
      wake("poller");
      return "rest";
    },
    onPassed,
    onError,
  });
}

export function watcherLoop({ pool, emit, onPassed, onError }: EngineParts): Loop {
  return createLoop({
    name: "watcher",
    intervalMs: WATCH_MS,
    pass: async () => {
      await watchOnce({ db: pool, emit });
      return "rest";
    },
    onPassed,
    onError,
  });
}

/** How often an instance looks whether something has been kept long enough. */
const PRUNE_INTERVAL_MS = 60_000;

export function prunerLoop({ pool, settings, emit, onPassed, onError }: EngineParts): Loop {
  const { keepDoneMs, keepFailedMs, keepCanceledMs } = settings;
  const keepMs = { DONE: keepDoneMs, FAILED: keepFailedMs, CANCELED: keepCanceledMs };
  return createLoop({
    name: "pruner",
    intervalMs: PRUNE_INTERVAL_MS,
    pass: async () => {
      const beganAtMs = monotonicMs();
      const more = await pruneOnce({ pool, keepMs, emit });
      // Rests as long as it has worked: those who wait for an answer come first.
      return more ? { againInMs: monotonicMs() - beganAtMs } : "rest";
    },
    onPassed,
    onError,
  });
}
