/** A load that goes on: free tasks, and lines whose versions go on from beat to beat. */

import { setTimeout as wait } from "node:timers/promises";
import type { Round } from "./bench.ts";
import type { LoadTask } from "./contestants/contestant.ts";
import { signalbox } from "./contestants/signalbox.ts";
import { type Database, databaseNow } from "./database.ts";
import { gateFaults } from "./gate-faults.ts";
import { leftOver, roundFaults } from "./round-faults.ts";
import { CONCURRENCY } from "./scenarios/no-ops.ts";
import { openWorker } from "./worker-process.ts";

const EVERY_MS = 200;
/** With each beat so many free tasks, and so many in lines. */
const FREE = 1_000;
const IN_LINES = 200;
const PER_SECOND = ((FREE + IN_LINES) * 1_000) / EVERY_MS;
/** Of what was meant, from the first that came to the last that ended. */
const LEAST_PACE = 0.9;
const PATIENCE_MS = 300_000;

export interface Busy {
  /** Its resources are called like this. */
  readonly name: string;
  readonly forMs: number;
}

export interface Kept extends Round {
  readonly done: number;
  readonly perSecond: number;
  /** From being enqueued to the end. */
  readonly p99Ms: number;
}

export async function keepBusy(database: Database, busy: Busy): Promise<Kept> {
  const most = (busy.forMs / EVERY_MS) * (FREE + IN_LINES);
  const order = {
    contestant: "signalbox",
    url: database.url,
    concurrency: CONCURRENCY,
    tasks: most,
  } as const;
  const worker = await openWorker(order, { onCalls: () => {} });
  const since = await databaseNow(database);
  worker.start();
  const inLines = await enqueueBeats(database, busy);
  const tasks = (inLines.length / IN_LINES) * (FREE + IN_LINES);
  const untilMs = performance.now() + PATIENCE_MS;
  while (worker.calls() < tasks && performance.now() < untilMs) await wait(100);
  const left = await leftOver(database, "signalbox");
  const reports = [await worker.end()];
  const [row] = await database.query<{ done: number; perSecond: number; p99Ms: number }>(
    `SELECT count(*)::int AS done,
            (count(*) / extract(epoch FROM max(finished_at) - min(enqueued_at)))::float8 AS "perSecond",
            (extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY finished_at - enqueued_at)) * 1000)::float8 AS "p99Ms"
       FROM signalbox.task_run WHERE enqueued_at >= $1::timestamptz AND status = 'DONE'`,
    [since],
  );
  const round = {
    contestant: "signalbox",
    database,
    reports,
    tasks,
    load: { tasks: inLines },
    all: true,
    slots: CONCURRENCY,
    since,
  } as const;
  const { done, perSecond, p99Ms } = row ?? { done: 0, perSecond: Number.NaN, p99Ms: Number.NaN };
  return {
    done,
    perSecond,
    p99Ms,
    faults: [
      ...left,
      ...(await roundFaults(round)),
      ...(await gateFaults(database, {}, since)),
      ...(perSecond >= LEAST_PACE * PER_SECOND ? [] : [`${Math.round(perSecond)} of ${PER_SECOND} a second`]),
    ],
  };
}

/** Answers those in lines: with each beat so many. */
async function enqueueBeats(database: Database, { name, forMs }: Busy): Promise<readonly LoadTask[]> {
  const enqueuer = await signalbox.openEnqueuer(database.url);
  const beats = forMs / EVERY_MS;
  const untilMs = performance.now() + forMs;
  const given: LoadTask[] = [];
  let n = 0;
  for (let beat = 0; beat < beats && performance.now() < untilMs; beat += 1) {
    const nextMs = performance.now() + EVERY_MS;
    const free = Array.from({ length: FREE }, (_, each) => ({ n: n + each }));
    const inLines = Array.from({ length: IN_LINES }, (_, each) => ({
      n: n + FREE + each,
      resource: `${name}-${each}`,
      version: `${beat + 1}`,
    }));
    await enqueuer.addMany([...free, ...inLines]);
    given.push(...inLines);
    n += FREE + IN_LINES;
    await wait(Math.max(0, nextMs - performance.now()));
  }
  await enqueuer.close();
  return given;
}
