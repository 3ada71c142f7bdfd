/** One round of one contestant: a load that lies ready, processes that work on it, and whether all of it was right. */

import { setTimeout as wait } from "node:timers/promises";
import { CONTESTANTS, type ContestantKey } from "./contestants/index.ts";
import { meter, type Spent } from "./meters.ts";
import type { Database } from "./server.ts";
import type { WorkReport } from "./worker-messages.ts";
import { openWorker } from "./worker-process.ts";

const PATIENCE_MS = 300_000;
/** How long after the last call everything must be recorded. */
const RECORDED_WITHIN_MS = 5_000;

export interface WorkRound {
  readonly perSecond: number;
  readonly spent: Spent;
  readonly nodeCpuMs: number;
  readonly longestBlockMs: number;
  /** What each process did of it, as a share of 1. */
  readonly shares: readonly number[];
  /** Why the round does not count; empty when it does. */
  readonly faults: readonly string[];
}

export interface WorkRequest {
  readonly contestant: ContestantKey;
  readonly database: Database;
  readonly tasks: number;
  /** How many more there are that nobody can run. Default: none. */
  readonly waiting?: number;
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
  const {
    contestant,
    database,
    tasks,
    concurrency,
    upTo = tasks,
    untimed = 0,
    waiting = 0,
    restMs = 0,
  } = request;
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
  const stopMeter = await meter(database);
  for (const { start } of workers) start();
  const inTime = await Promise.race([done.then(() => true), wait(PATIENCE_MS, false, { ref: false })]);
  const left = upTo < tasks ? 0 : await leftOver(database, contestant, waiting);
  const spent = await stopMeter();
  const reports = await Promise.all(workers.map(async ({ end }) => await end()));
  const fromMs = Math.min(...reports.filter(({ calls }) => calls > 0).map(({ firstAtMs }) => firstAtMs));
  const toMs = Math.max(...reports.map(({ lastAtMs }) => lastAtMs));
  const faults = [
    ...(inTime ? [] : ["not all were called in time"]),
    ...(left === 0 ? [] : [`${left} are not recorded as ended`]),
    ...seenFaults(reports, tasks, upTo),
  ];
  const called = reports.reduce((sum, { calls }) => sum + calls, 0);
  return {
    perSecond: ((called - untimed) / (toMs - fromMs)) * 1_000,
    spent,
    nodeCpuMs: reports.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    longestBlockMs: Math.max(...reports.map(({ longestBlockMs }) => longestBlockMs)),
    shares: reports.map(({ calls }) => calls / called),
    faults,
  };
}

async function leftOver(database: Database, contestant: ContestantKey, waiting: number): Promise<number> {
  const untilMs = performance.now() + RECORDED_WITHIN_MS;
  for (;;) {
    const [row] = await database.query<{ left: string }>(CONTESTANTS[contestant].leftSql);
    const left = Number(row?.left) - waiting;
    if (left === 0 || performance.now() > untilMs) return left;
    await wait(20);
  }
}

function seenFaults(reports: readonly WorkReport[], tasks: number, upTo: number): readonly string[] {
  const counts = new Uint16Array(tasks);
  for (const { seen } of reports) {
    for (const [n, count] of Buffer.from(seen, "base64").entries()) counts[n] = (counts[n] ?? 0) + count;
  }
  const lost = upTo < tasks ? 0 : counts.filter((count) => count === 0).length;
  const twice = counts.filter((count) => count > 1).length;
  return [...(lost > 0 ? [`${lost} never ran`] : []), ...(twice > 0 ? [`${twice} ran more than once`] : [])];
}
