/** Long backlogs: whether what waits slows what runs, and whether it can still say why it waits. Signalbox beside itself. */

import { createScheduler } from "../../../packages/core/dist/index.js";
import { type Bench, type Scenario } from "../bench.ts";
import type { LoadTask } from "../contestants/contestant.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Figure } from "../figure.ts";
import { measureWork } from "../measure-work.ts";
import type { Database } from "../server.ts";
import { median, percentile } from "../statistics.ts";
import { CONCURRENCY } from "./no-ops.ts";

const MEASURED = 20_000;
const LONG = 500_000;
const PARKED = 100_000;
const RESOURCES = 2_000;
const ASKED = 500;
const AT_ONCE = 50_000;

const free = (count: number): readonly LoadTask[] => Array.from({ length: count }, (_, n) => ({ n }));
const inLines = (count: number): readonly LoadTask[] =>
  free(count).map(({ n }) => ({
    n,
    resource: `database-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  }));

async function enqueue({ url }: Database, tasks: readonly LoadTask[]): Promise<void> {
  for (let from = 0; from < tasks.length; from += AT_ONCE)
    await signalbox.enqueueLoad?.(url, { tasks: tasks.slice(from, from + AT_ONCE) });
}

/** Of which nobody can run a single one: the kind is nobody's. */
async function enqueueWaiting({ url }: Database, count: number, resource: string): Promise<void> {
  const scheduler = createScheduler({ databaseUrl: url, queryTimeoutMs: 120_000 });
  const spec = { kind: "of nobody", resources: [{ name: resource, mode: "exclusive" as const }] };
  for (let from = 0; from < count; from += AT_ONCE)
    await scheduler.enqueueMany(Array.from({ length: Math.min(AT_ONCE, count - from) }, () => spec));
  await scheduler.stop();
}

async function rateOf(
  { server, note }: Bench,
  title: string,
  prepare: (database: Database) => Promise<number>,
  after: (database: Database) => Promise<void> = async () => {},
): Promise<{ readonly perSecond: number; readonly faults: readonly string[] }> {
  note(`  ${title}`);
  const database = await server.createDatabase();
  try {
    await signalbox.install(database.url);
    const tasks = await prepare(database);
    await database.query("VACUUM ANALYZE");
    const request = { contestant: "signalbox", database, tasks, upTo: MEASURED } as const;
    const round = await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
    await after(database);
    return round;
  } finally {
    await database.drop();
  }
}

async function medianRate(
  ...[bench, title, prepare, after]: Parameters<typeof rateOf>
): ReturnType<typeof rateOf> {
  const rounds = [];
  for (let round = 0; round < bench.rounds; round += 1)
    rounds.push(await rateOf(bench, title, prepare, after));
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    faults: rounds.flatMap(({ faults }) => faults),
  };
}

export const backlog: Scenario = async (given) => {
  if (!given.full) return [];
  const bench = { ...given, rounds: 1 };
  const load = (tasks: readonly LoadTask[]) => async (database: Database) => {
    await enqueue(database, tasks);
    return tasks.length;
  };
  const asked: number[] = [];
  const short = await medianRate(bench, "20,000 free", load(free(MEASURED)));
  const long = await medianRate(
    bench,
    "500,000 free, 500,000 waiting",
    async (database) => {
      await enqueueWaiting(database, LONG, "busy");
      await enqueue(database, free(LONG));
      return LONG;
    },
    async (database) => void asked.push(...(await askWhy(database))),
  );
  const shortLines = await medianRate(bench, "20,000 in lines", load(inLines(MEASURED)));
  const longLines = await medianRate(bench, "500,000 in lines", load(inLines(LONG)));
  const parked = await medianRate(
    bench,
    "20,000 in lines beside 100,000 behind one resource",
    async (database) => {
      await enqueueWaiting(database, PARKED, "busy");
      return await load(inLines(MEASURED))(database);
    },
  );
  const beside = (
    scenario: string,
    measured: typeof short,
    to: string,
    base: typeof short,
    atLeast: number,
  ): Figure => ({
    scenario,
    contestant: signalbox.name,
    unit: "/s",
    value: measured.perSecond,
    ratio: { to, value: measured.perSecond / base.perSecond },
    bar: { atLeast },
    notes: [],
    faults: [...measured.faults, ...base.faults],
  });
  return [
    beside("500,000 AVAILABLE and 500,000 PENDING, free", long, "20,000", short, 0.9),
    beside("500,000 PENDING, in lines", longLines, "20,000", shortLines, 0.9),
    beside("100,000 behind one resource, others in lines", parked, "without them", shortLines, 0.85),
    {
      scenario: "explain, p99",
      contestant: signalbox.name,
      unit: "ms",
      value: percentile(asked, 99),
      ratio: null,
      bar: { atMost: 5 },
      notes: [],
      faults: [],
    },
  ];
};

/** How long an answer takes, of those that wait, chosen at random. */
async function askWhy(database: Database): Promise<readonly number[]> {
  const scheduler = createScheduler({ databaseUrl: database.url });
  const rows = await database.query<{ id: string }>(
    `SELECT task_run_id AS id FROM signalbox.waiting TABLESAMPLE BERNOULLI (1) LIMIT ${ASKED + 20}`,
  );
  const times: number[] = [];
  for (const { id } of rows) {
    const fromMs = performance.now();
    await scheduler.explain(id);
    times.push(performance.now() - fromMs);
  }
  await scheduler.stop();
  return times.slice(20);
}
