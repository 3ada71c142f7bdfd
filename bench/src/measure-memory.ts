/** What an instance, and its warden and forker where it has them, takes of memory while many tasks are at work and do nothing. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Round } from "./bench.ts";
import { CONTESTANTS, type ContestantKey } from "./contestants/index.ts";
import type { Database } from "./database.ts";
import { openWorker } from "./worker-process.ts";

const PATIENCE_MS = 60_000;
/** What was claimed and started is recorded by then. */
const SETTLE_MS = 2_000;

export interface MemoryRound extends Round {
  /** Resident, instance, warden and forker together, beside one task and beside many. */
  readonly withOneKb: number;
  readonly withManyKb: number;
}

export async function measureMemory(
  database: Database,
  contestant: ContestantKey,
  many: number,
): Promise<MemoryRound> {
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
  const order = { contestant, url: database.url, concurrency: many, tasks: many };
  const worker = await openWorker(order, { onCalls: () => {} });
  const faults: string[] = [];
  const besides = async (count: number): Promise<number> => {
    const untilMs = performance.now() + PATIENCE_MS;
    while (worker.calls() < count && performance.now() < untilMs) await wait(50);
    await wait(SETTLE_MS);
    const [row] = await database.query<{ running: number }>(
      "SELECT count(*)::int AS running FROM signalbox.task_run WHERE status = 'RUNNING'",
    );
    if (worker.calls() !== count || row?.running !== count)
      faults.push(`${worker.calls()} of ${count} were started, ${row?.running} are RUNNING`);
    return residentKb(worker.pid);
  };
  worker.start();
  await enqueuer.addOne({ n: 0 });
  const withOneKb = await besides(1);
  await enqueuer.addMany(Array.from({ length: many - 1 }, (_, index) => ({ n: index + 1 })));
  const withManyKb = await besides(many);
  await enqueuer.close();
  await worker.end();
  return { withOneKb, withManyKb, faults };
}

/** Of the process, of its children and of who forks for them; not of others below, which are what it runs. */
function residentKb(pid: number): number {
  const children = childrenOf(pid);
  const family = [
    String(pid),
    ...children,
    ...children.flatMap((child) => childrenOf(Number(child)).filter(isForker)),
  ];
  return family.reduce((sum, name) => sum + fieldOf(name, "VmRSS"), 0);
}

function childrenOf(pid: number): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && fieldOf(name, "PPid") === pid);
}

function isForker(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("/forker.pl\0");
  } catch {
    return false;
  }
}

/** NaN where there is none: it has ended in this very moment. */
function fieldOf(pid: string, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  } catch {
    return Number.NaN;
  }
}
