/** How the loops of an instance are doing, by what it tells of each pass. */

import type { SchedulerEvent } from "@signalbox/core";
import type { LoopState } from "../http/routes/probes.ts";

/** Once may be a deadlock; this often is a database that is gone, or a bug. */
const FAILURES_IN_A_ROW = 3;
/** The longest rest of a loop is a little over a minute, and no statement takes as long. */
const SILENT_MS = 180_000;

const LOOPS = [
  "joiner",
  "promoter",
  "claimer",
  "settler",
  "second settler",
  "rescuer",
  "reconciler",
  "poller",
  "timer",
  "watcher",
  "pruner",
  "carrier",
] as const;

/** Nobody waits for these: an instance that cannot do them still does its share. */
const BESIDE: ReadonlySet<string> = new Set(["watcher", "pruner", "carrier"]);

export interface LoopWatch {
  /** For `onEvent`. */
  tell(event: SchedulerEvent, nowMs: number): void;
  states(nowMs: number): Readonly<Record<string, LoopState>>;
}

interface Watched {
  failures: number;
  endedAtMs: number;
}

/** `nowMs` is by a monotonic clock. */
export function watchLoops(nowMs: number): LoopWatch {
  const loops = new Map<string, Watched>(LOOPS.map((loop) => [loop, { failures: 0, endedAtMs: nowMs }]));
  return {
    tell: (event, atMs) => {
      if (event.type !== "loop.passed" && event.type !== "loop.failed") return;
      const loop = loops.get(event.loop);
      if (loop === undefined) return;
      loop.failures = event.type === "loop.passed" ? 0 : loop.failures + 1;
      loop.endedAtMs = atMs;
    },
    states: (atMs) => Object.fromEntries([...loops].map(([loop, watched]) => [loop, stateOf(watched, atMs)])),
  };
}

export function loopsAreReady(states: Readonly<Record<string, LoopState>>): boolean {
  return Object.entries(states).every(([loop, state]) => state === "ok" || BESIDE.has(loop));
}

function stateOf({ failures, endedAtMs }: Watched, nowMs: number): LoopState {
  if (nowMs - endedAtMs > SILENT_MS) return "silent";
  return failures >= FAILURES_IN_A_ROW ? "failing" : "ok";
}
