/** What an instance and its warden take of memory while processes of theirs do nothing. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { CONTESTANTS } from "./contestants/index.ts";
import type { Database } from "./server.ts";
import { openWorker } from "./worker-process.ts";

const MANY = 200;
const PATIENCE_MS = 60_000;
/** What was claimed and started is recorded by then. */
const SETTLE_MS = 2_000;

export interface ProcessMemory {
  readonly many: number;
  /** Resident, instance and warden together, beside one process and beside many. */
  readonly withOneKb: number;
  readonly withManyKb: number;
}

export async function measureProcessMemory(database: Database): Promise<ProcessMemory> {
  const contestant = "signalboxSleepers";
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
  const order = { contestant, url: database.url, concurrency: MANY, tasks: MANY } as const;
  const worker = await openWorker(order, { onCalls: () => {} });
  const besides = async (count: number): Promise<number> => {
    const untilMs = performance.now() + PATIENCE_MS;
    while (worker.calls() < count) {
      if (performance.now() > untilMs) throw new Error(`Only ${worker.calls()} of ${count} were started`);
      await wait(50);
    }
    await wait(SETTLE_MS);
    return residentKb(worker.pid);
  };
  worker.start();
  await enqueuer.addOne({ n: 0 });
  const withOneKb = await besides(1);
  await enqueuer.addMany(Array.from({ length: MANY - 1 }, (_, index) => ({ n: index + 1 })));
  const withManyKb = await besides(MANY);
  await enqueuer.close();
  await worker.end();
  return { many: MANY, withOneKb, withManyKb };
}

/** Of the process and of its children; not of theirs, which are what it runs. */
function residentKb(pid: number): number {
  const family = readdirSync("/proc").filter(
    (name) => name === String(pid) || (/^\d+$/.test(name) && fieldOf(name, "PPid") === pid),
  );
  return family.reduce((sum, name) => sum + fieldOf(name, "VmRSS"), 0);
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
