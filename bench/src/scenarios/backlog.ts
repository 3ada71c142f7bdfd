/** Long backlogs: whether what waits slows what runs, and whether it can still say why it waits. Signalbox beside itself. */

import { setTimeout as wait } from "node:timers/promises";
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
const ROUNDS = 3;

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

/** Of which nobody can run a single one: the kind is nobody's. A pass has looked at each, and they wait. */
async function enqueueWaiting(database: Database, count: number, resource: string): Promise<void> {
  const scheduler = createScheduler({ databaseUrl: database.url, queryTimeoutMs: 120_000, batchSize: 500 });
  const spec = { kind: "of nobody", resources: [{ name: resource, mode: "exclusive" as const }] };
  for (let from = 0; from < count; from += AT_ONCE)
    await scheduler.enqueueMany(Array.from({ length: Math.min(AT_ONCE, count - from) }, () => spec));
  await scheduler.start();
  for (;;) {
    await wait(500);
    const [row] = await database.query<{ left: string }>(
      "SELECT count(*) AS left FROM signalbox.waiting WHERE blocked_on IS NULL",
    );
    if (row?.left === "0") break;
  }
  await scheduler.stop();
}

interface Prepared {
  /** That can run. */
  readonly tasks: number;
  /** That wait, whatever happens. */
  readonly waiting: number;
  readonly untimed?: number;
}

interface Rate {
  readonly perSecond: number;
  readonly faults: readonly string[];
}

interface Case {
  readonly title: string;
  readonly prepare: (database: Database) => Promise<Prepared>;
  readonly after?: (database: Database) => Promise<void>;
}

async function rateOf({ server, note }: Bench, { title, prepare, after }: Case): Promise<Rate> {
  note(`  ${title}`);
  const database = await server.createDatabase();
  try {
    await signalbox.install(database.url);
    const prepared = await prepare(database);
    await database.query("VACUUM ANALYZE");
    const upTo = (prepared.untimed ?? 0) + MEASURED;
    const request = { contestant: "signalbox", database, ...prepared, upTo } as const;
    const round = await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
    await after?.(database);
    return round;
  } finally {
    await database.drop();
  }
}

const load = (tasks: readonly LoadTask[]) => async (database: Database) => {
  await enqueue(database, tasks);
  return { tasks: tasks.length, waiting: 0 };
};
/** The first of each line and call are new to the passes: they are looked at while the first tasks run, which is not timed. */
const lines = (count: number) => async (database: Database) => ({
  ...(await load(inLines(count))(database)),
  untimed: MEASURED,
});

export const backlog: Scenario = async (bench) => {
  if (!bench.full) return [];
  const asked: number[] = [];
  const cases = {
    short: { title: "20,000 free", prepare: load(free(MEASURED)) },
    long: {
      title: "500,000 free, 500,000 waiting",
      prepare: async (database) => {
        await enqueueWaiting(database, LONG, "busy");
        await enqueue(database, free(LONG));
        return { tasks: LONG, waiting: LONG };
      },
      after: async (database) => void asked.push(...(await askWhy(database))),
    },
    shortLines: { title: "20,000 in lines", prepare: lines(2 * MEASURED) },
    longLines: { title: "500,000 in lines", prepare: lines(LONG) },
    parked: {
      title: "20,000 in lines beside 100,000 behind one resource",
      prepare: async (database) => {
        await enqueueWaiting(database, PARKED, "busy");
        return { ...(await lines(2 * MEASURED)(database)), waiting: PARKED };
      },
    },
  } satisfies Record<string, Case>;
  const rates = new Map<Case, Rate[]>(Object.values(cases).map((each) => [each, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [each, rounds] of rates) rounds.push(await rateOf(bench, each));
  const rate = (each: Case): number => median((rates.get(each) ?? []).map(({ perSecond }) => perSecond));
  const beside = (scenario: string, each: Case, to: string, base: Case, atLeast: number): Figure => ({
    scenario,
    contestant: signalbox.name,
    unit: "/s",
    value: rate(each),
    ratio: { to, value: rate(each) / rate(base) },
    bar: { atLeast },
    notes: [],
    faults: [each, base].flatMap((of) => (rates.get(of) ?? []).flatMap(({ faults }) => faults)),
  });
  return [
    beside("500,000 AVAILABLE and 500,000 PENDING, free", cases.long, "20,000", cases.short, 0.9),
    beside("500,000 PENDING, in lines", cases.longLines, "20,000", cases.shortLines, 0.9),
    beside(
      "100,000 behind one resource, others in lines",
      cases.parked,
      "without them",
      cases.shortLines,
      0.85,
    ),
    {
      scenario: "explain, p99",
      contestant: signalbox.name,
      unit: "ms",
      value: percentile(asked, 99),
      ratio: null,
      bar: { atMost: 5 },
      notes: [`p50 ${percentile(asked, 50).toFixed(1)} ms`],
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
