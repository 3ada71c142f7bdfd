/** A started instance: joins, runs its loops, and drains when it is stopped. */

import { setTimeout as wait } from "node:timers/promises";
import type { Executor } from "../executors/executor.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { createProcesses, type Processes } from "../executors/process/processes.ts";
import type { Pool } from "../store/database.ts";
import { beginExecutions } from "./begin-execution.ts";
import { carrierLoop } from "./carrier-loop.ts";
import { ClaimPace } from "./claim-pace.ts";
import { type InstanceHealth, keepHealth } from "./health.ts";
import { createLineTurns, type LineTurns, type LineTurnsDeps } from "./line-turns.ts";
import { createLogWriter, type LogWriter } from "./log-writer.ts";
import type { Loop } from "./loop.ts";
import {
  claimerLoop,
  joinerLoop,
  pollerLoop,
  promoterLoop,
  prunerLoop,
  reconcilerLoop,
  rescuerLoop,
  settlerLoop,
  timerLoop,
  watcherLoop,
} from "./loops.ts";
import { type Membership, Memberships } from "./membership.ts";
import { reconcileOnce } from "./reconciler.ts";
import type { SchedulerSettings } from "./settings.ts";
import { createSettler, type Settler } from "./settler.ts";
import { type Emit, unheard } from "./telemetry.ts";
import type { Wakeups } from "./wakeups.ts";

export interface EngineDeps {
  readonly pool: Pool;
  readonly settings: SchedulerSettings;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly wakeups: Wakeups;
  readonly emit: Emit;
}

type LoopName =
  | "promoter"
  | "claimer"
  | "poller"
  | "settler"
  | "rescuer"
  | "reconciler"
  | "timer"
  | "joiner"
  | "watcher"
  | "pruner"
  | "carrier";

/** What the loops share. */
export interface EngineParts extends EngineDeps {
  readonly memberships: Memberships;
  readonly settler: Settler;
  readonly logs: LogWriter;
  readonly processes: Processes;
  readonly pace: ClaimPace;
  readonly wake: (loop: LoopName) => void;
  readonly onPassed: (loop: string, tookMs: number) => void;
  readonly onError: (error: unknown, loop: string) => void;
}

export interface Engine {
  start: () => Promise<void>;
  /** Claims nothing more, waits for what runs, ends what does not end by itself, records all, leaves. */
  stop: () => Promise<void>;
  health: () => InstanceHealth;
}

export function createEngine(deps: EngineDeps): Engine {
  const { pool, settings, wakeups } = deps;
  const emit = settings.onEvent === unheard ? unheard : deps.emit;
  const wake = (loop: LoopName): void => loops[loop].wake();
  const memberships = membershipsOf({ ...deps, emit }, wake);
  const turns = lineTurnsOf({ ...deps, emit, memberships }, (life, claimed) =>
    beginExecutions(parts, life, claimed),
  );
  const settler = createSettler({ pool, batchSize: settings.batchSize, emit, turns });
  const logs = createLogWriter({ pool, emit, onStored: () => wakeups.send("signalbox_log") });
  const processes = createProcesses();
  const onError = (error: unknown, loop: string): void => emit({ type: "loop.failed", loop, error });
  const onPassed = (loop: string, tookMs: number): void => emit({ type: "loop.passed", loop, tookMs });
  const parts: EngineParts = {
    ...deps,
    emit,
    memberships,
    settler,
    logs,
    processes,
    pace: new ClaimPace(),
    wake,
    onPassed,
    onError,
  };
  const loops = loopsOf(parts);
  const health = keepHealth({ memberships, slots: settings.slots, emit });
  wakeBy(wakeups, wake);

  return {
    start: async () => {
      await joinOrEnd(memberships);
      wakeups.start();
      startLoops(loops);
      health.start();
    },
    stop: async () => {
      health.drain();
      memberships.leaving = true;
      memberships.tellDraining();
      const { joiner, claimer, poller, pruner, carrier } = loops;
      await Promise.all([joiner, claimer, poller, pruner, carrier].map((loop) => loop.stop()));
      await memberships.startDraining().catch((error: unknown) => onError(error, "draining"));
      if (!(await allEnded(memberships, settings.drainMs))) {
        memberships.stopExecutions();
        // Each of them ends, or is taken for stuck in its own time.
        const withinMs = longestObeyMs(deps) + LONGEST_END_MS;
        if (!(await allEnded(memberships, withinMs)))
          onError(new Error(`Something did not end within ${withinMs} ms`), "draining");
      }
      await processes.close();
      await Promise.all(Object.values(loops).map((loop) => loop.stop()));
      await recordPatiently(parts);
      await memberships.leave();
      health.stop();
    },
    health: health.read,
  };
}

function lineTurnsOf(
  { pool, executors, emit, memberships }: Pick<EngineParts, "pool" | "executors" | "emit" | "memberships">,
  begin: LineTurnsDeps<Membership>["begin"],
): LineTurns {
  const life = (): Membership | null => (memberships.mayClaim ? memberships.current : null);
  return createLineTurns({ pool, kinds: [...executors.keys()], emit, life, begin });
}

function membershipsOf({ pool, settings, emit }: EngineDeps, wake: (loop: LoopName) => void): Memberships {
  return new Memberships({
    pool,
    settings,
    emit,
    onRenewed: () => wake("reconciler"),
    onCalledBack: () => {
      wake("claimer");
      wake("poller");
    },
    onLost: () => wake("joiner"),
  });
}

async function joinOrEnd(memberships: Memberships): Promise<void> {
  try {
    await memberships.join();
  } catch (error) {
    // Its thread would keep the process alive.
    await memberships.leave();
    throw error;
  }
}

/** For what nobody waits for: a server to which many instances come at once has enough to do. */
const LATER_MS = 1_000;

function startLoops({ timer, watcher, pruner, ...first }: Readonly<Record<LoopName, Loop>>): void {
  for (const loop of Object.values(first)) loop.start();
  for (const loop of [timer, watcher, pruner]) loop.start(LATER_MS * (0.5 + Math.random()));
}

function wakeBy(wakeups: Wakeups, wake: EngineParts["wake"]): void {
  wakeups.on("signalbox_gate", () => wake("promoter"));
  wakeups.on("signalbox_ready", () => wake("claimer"));
  wakeups.on("signalbox_cancel", () => {
    wake("reconciler");
    wake("poller");
  });
  wakeups.on("signalbox_operation", () => wake("carrier"));
}

function loopsOf(parts: EngineParts): Readonly<Record<LoopName, Loop>> {
  return {
    promoter: promoterLoop(parts),
    claimer: claimerLoop(parts),
    settler: settlerLoop(parts),
    rescuer: rescuerLoop(parts),
    reconciler: reconcilerLoop(parts),
    poller: pollerLoop(parts),
    timer: timerLoop(parts),
    joiner: joinerLoop(parts),
    watcher: watcherLoop(parts),
    pruner: prunerLoop(parts),
    carrier: carrierLoop(parts),
  };
}

/**
 * How long an instance that leaves waits for the end of what says that it always ends, and of processes. Then it leaves
 * without it, and its lease runs out by itself: nobody gets that work before.
 */
const LONGEST_END_MS = 10_000;

function longestObeyMs({ settings, executors }: EngineDeps): number {
  const given = [...executors.values()].map(({ obeyMs }) => obeyMs ?? 0);
  return Math.max(settings.obeyMs, ...given.filter(Number.isFinite));
}

/** How long an instance that leaves tries to record what its executions came to. */
const RECORD_PATIENCE_MS = 5_000;
const RECORD_AGAIN_MS = 250;

/** Neither of the two keeps the other from being done. */
async function recordPatiently(parts: EngineParts): Promise<void> {
  const untilMs = monotonicMs() + RECORD_PATIENCE_MS;
  const left = new Map([
    ["settler", settleTheRest],
    ["reconciler", handBackTheRest],
  ]);
  for (;;) {
    for (const [loop, work] of left) {
      try {
        await work(parts);
        left.delete(loop);
      } catch (error) {
        parts.onError(error, loop);
      }
    }
    if (left.size === 0 || monotonicMs() >= untilMs) return;
    await wait(RECORD_AGAIN_MS);
  }
}

/** A result that is not recorded now is lost with the process: whoever rescues its task run begins it again. */
async function settleTheRest({ settler, wakeups }: EngineParts): Promise<void> {
  for (let left = true; left; ) {
    const pass = await settler.settleOnce();
    if (pass.opensGates) wakeups.send("signalbox_gate");
    if (pass.handsOff) wakeups.send("signalbox_ready");
    left = pass.left > 0;
  }
}

/** Claims whose answers were lost would cost an interruption otherwise. */
async function handBackTheRest({ pool, memberships, wakeups, emit }: EngineParts): Promise<void> {
  const life = memberships.current;
  if (life === null) return;
  const back = await reconcileOnce({ pool, instanceId: life.instanceId, held: life.held, emit });
  if (back > 0) wakeups.send("signalbox_gate");
}

async function allEnded(memberships: Memberships, withinMs: number): Promise<boolean> {
  const untilMs = monotonicMs() + withinMs;
  while (!memberships.isQuiet) {
    if (monotonicMs() >= untilMs) return false;
    await wait(20);
  }
  return true;
}
