/** Ten minutes of load, free tasks and lines together: whether the same work goes as fast after it as before. Signalbox beside itself. */

import { setTimeout as wait } from "node:timers/promises";
import type { Bench, Scenario } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Figure } from "../figure.ts";
import { measureWork } from "../measure-work.ts";
import type { Database } from "../server.ts";
import { median } from "../statistics.ts";
import { openWorker } from "../worker-process.ts";
import { linesOn } from "./gates.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const LOAD_MS = 600_000;
const EVERY_MS = 200;
/** With each beat so many free tasks, and so many in lines whose versions go on from beat to beat. */
const FREE = 1_000;
const IN_LINES = 200;
const MEASURED = 20_000;
/** One takes a second, in which a checkpoint or a vacuum may fall: the medians are compared. */
const ROUNDS = 5;

interface Rates {
  readonly free: number;
  readonly inLines: number;
  readonly faults: readonly string[];
}

async function measure(database: Database, when: "before" | "after"): Promise<Rates> {
  const rounds: Rates[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push(await measureOnce(database, `${when}-${round}`));
  return {
    free: median(rounds.map(({ free }) => free)),
    inLines: median(rounds.map(({ inLines }) => inLines)),
    faults: rounds.flatMap(({ faults }) => faults),
  };
}

async function measureOnce(database: Database, when: string): Promise<Rates> {
  const request = { contestant: "signalbox", database, tasks: MEASURED } as const;
  const how = { concurrency: CONCURRENCY, processes: 1 };
  await enqueueBulk("signalbox", database, MEASURED);
  const free = await measureWork({ ...request, ...how });
  // On new resources: on the others these versions are done.
  await signalbox.enqueueLoad?.(database.url, linesOn(when));
  const inLines = await measureWork({ ...request, ...how });
  return {
    free: free.perSecond,
    inLines: inLines.perSecond,
    faults: [...free.faults, ...inLines.faults],
  };
}

/** Answers how many were done. */
async function keepBusy(database: Database): Promise<number> {
  const beats = LOAD_MS / EVERY_MS;
  const order = { contestant: "signalbox", url: database.url, concurrency: CONCURRENCY } as const;
  const worker = await openWorker({ ...order, tasks: beats * (FREE + IN_LINES) }, { onCalls: () => {} });
  worker.start();
  const enqueuer = await signalbox.openEnqueuer(database.url);
  let n = 0;
  const untilMs = performance.now() + LOAD_MS;
  for (let beat = 0; beat < beats && performance.now() < untilMs; beat += 1) {
    const nextMs = performance.now() + EVERY_MS;
    const free = Array.from({ length: FREE }, (_, each) => ({ n: n + each }));
    const inLines = Array.from({ length: IN_LINES }, (_, each) => ({
      n: n + FREE + each,
      resource: `load-${each}`,
      version: `${beat + 1}`,
    }));
    await enqueuer.addMany([...free, ...inLines]);
    n += FREE + IN_LINES;
    await wait(Math.max(0, nextMs - performance.now()));
  }
  while (worker.calls() < n) await wait(100);
  await enqueuer.close();
  await worker.end();
  return n;
}

export const tenMinutes: Scenario = async ({ server, full, note }: Bench) => {
  if (!full) return [];
  const database = await server.createDatabase();
  try {
    await signalbox.install(database.url);
    note("  before");
    const before = await measure(database, "before");
    note("  ten minutes of load");
    const done = await keepBusy(database);
    note("  after");
    const after = await measure(database, "after");
    const figure = (what: string, of: (rates: Rates) => number): Figure => ({
      scenario: `${what}, after ten minutes of load`,
      contestant: signalbox.name,
      unit: "/s",
      value: of(after),
      ratio: { to: "before it", value: of(after) / of(before) },
      bar: { atLeast: 0.9 },
      notes: [`${done.toLocaleString("en")} tasks were done meanwhile`],
      faults: [...before.faults, ...after.faults],
    });
    return [figure("no-ops", ({ free }) => free), figure("in lines", ({ inLines }) => inLines)];
  } finally {
    await database.drop();
  }
};
