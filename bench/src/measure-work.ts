/** One round of one contestant: a load that lies ready, processes that work on it, and whether all of it was right. */

import { setTimeout as wait } from "node:timers/promises";
import type { Round } from "./bench.ts";
import type { Load } from "./contestants/contestant.ts";
import type { ContestantKey } from "./contestants/index.ts";
import { type Database, databaseNow } from "./database.ts";
import { meter, type Spent } from "./meters.ts";
import { leftOver, roundFaults } from "./round-faults.ts";
import { openWorker } from "./worker-process.ts";

const PATIENCE_MS = 300_000;

export interface WorkRound extends Round {
  readonly perSecond: number;
  readonly spent: Spent;
  readonly nodeCpuMs: number;
  readonly longestBlockMs: number;
  /** From a claim until the process of the task runs, where it has one. */
  readonly startsMs: readonly number[];
  /** What each process did of it, as a share of 1. */
  readonly shares: readonly number[];
}

export interface WorkRequest {
  readonly contestant: ContestantKey;
  readonly database: Database;
  readonly tasks: number;
  /** With its gates, where it has some: they are looked at by the calls of the handlers. */
  readonly load?: Load;
  /** Of a long backlog only so many are timed, and the rest is left. Default: all. */
  readonly upTo?: number;
  /** So many of these go before, and are not timed. Default: none. By one process only. */
  readonly untimed?: number;
  readonly concurrency: number;
  readonly processes: number;
  /** How long each handler takes on average; default: no time at all. */
  readonly restMs?: number;
}

export async function measureWork(request: WorkRequest): Promise<WorkRound> {
  const { contestant, database, tasks, concurrency, upTo = tasks, untimed = 0, restMs = 0 } = request;
  const load = request.load ?? null;
  const all = upTo >= tasks;
  let onDone = (): void => {};
  const done = new Promise<void>((resolve) => {
    onDone = resolve;
  });
  const order = { contestant, url: database.url, concurrency, tasks, untimed, restMs };
  const workers = await Promise.all(
    Array.from({ length: request.processes }, async () => await openWorker(order, { onCalls: () => look() })),
  );
  const look = (): void => {
    if (workers.reduce((sum, { calls }) => sum + calls(), 0) >= upTo) onDone();
  };
  const since = await databaseNow(database);
  const stopMeter = await meter(database);
  for (const { start } of workers) start();
  const inTime = await Promise.race([
    done.then(() => true),
    wait(PATIENCE_MS, false, { ref: false }),
    ...workers.map(async ({ died }) => await died),
  ]);
  const left = all ? await leftOver(database, contestant) : [];
  const spent = await stopMeter();
  const reports = await Promise.all(workers.map(async ({ end }) => await end()));
  const fromMs = Math.min(...reports.filter(({ calls }) => calls > 0).map(({ firstAtMs }) => firstAtMs));
  const toMs = Math.max(...reports.map(({ lastAtMs }) => lastAtMs));
  const called = reports.reduce((sum, { calls }) => sum + calls, 0);
  return {
    perSecond: ((called - untimed) / (toMs - fromMs)) * 1_000,
    spent,
    nodeCpuMs: reports.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    longestBlockMs: Math.max(...reports.map(({ longestBlockMs }) => longestBlockMs)),
    startsMs: reports.flatMap(({ startsMs }) => startsMs),
    shares: reports.map(({ calls }) => calls / called),
    faults: [
      ...(inTime ? [] : ["not all were called in time"]),
      ...left,
      ...(await roundFaults({ contestant, database, reports, tasks, load, all, slots: concurrency, since })),
    ],
  };
}
