/** With gates: resources held alone and versions in order, and then four gates that all bind at once. */

import { type Bench, entryOf, faultsOf, inTurn, type Round, type Scenario } from "../bench.ts";
import type { Load } from "../contestants/contestant.ts";
import { CONTESTANTS } from "../contestants/index.ts";
import { type Database, databaseNow } from "../database.ts";
import type { Figure } from "../figure.ts";
import { fourGates, GATE_CAUSES, type GateCause } from "../four-gates.ts";
import { gateFaults } from "../gate-faults.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import { median } from "../statistics.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const TASKS = 20_000;
/** Of so few as the others count, a good part of the time is that in which Node gets warm. Of so many graphile-worker does half as many a second: its server passes over what was deleted. */
const MANY_TASKS = 5 * TASKS;
const RESOURCES = 2_000;
/** Handlers that take no time never meet: before the rounds that are timed, these do, so that limits can be seen to hold. */
const REST_MS = 5;

/** On resources that are called like this. */
export const linesOn = (name: string, count: number = TASKS): Load => ({
  tasks: Array.from({ length: count }, (_, n) => ({
    n,
    resource: `${name}-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  })),
});

const ours = entryOf("signalbox");
const theirs = entryOf("graphileBatched");

async function workOff(
  contestant: "signalbox" | "graphileBatched",
  database: Database,
  load: Load,
  restMs = 0,
): Promise<WorkRound> {
  const tasks = load.tasks.length;
  const request = { contestant, database, tasks, load, restMs } as const;
  return await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
}

/** Ours, with the limits looked at. */
export async function workOffLoad(database: Database, load: Load, restMs = 0): Promise<WorkRound> {
  const since = await databaseNow(database);
  await CONTESTANTS.signalbox.enqueueLoad?.(database.url, load);
  const round = await workOff("signalbox", database, load, restMs);
  return { ...round, faults: [...round.faults, ...(await gateFaults(database, load, since))] };
}

export const exclusive: Scenario = exclusiveOf(TASKS, "one resource each, held alone, versions in order");
export const longerExclusive: Scenario = exclusiveOf(
  MANY_TASKS,
  "one resource each, held alone, versions in order, five times as many",
);

/** graphile-worker runs a named queue one at a time: no versions, nothing kept. */
function exclusiveOf(count: number, scenario: string): Scenario {
  const named = { ...theirs, title: "graphile-worker, named queues" };
  return async (bench) => {
    const lines = linesOn("database", count);
    const work = {
      signalbox: async (database: Database, restMs?: number) => await workOffLoad(database, lines, restMs),
      graphileBatched: async (database: Database, restMs?: number) =>
        await workOffQueues(database, lines, restMs),
    };
    const held = [await holdFor(bench, "signalbox", work.signalbox)];
    // With 24 at a time five times as many would take half a minute of rests.
    if (count === TASKS) held.push(await holdFor(bench, "graphileBatched", work.graphileBatched));
    const roundsOf = await inTurn(
      bench,
      [ours, named],
      async ({ contestant }, database) => await work[contestant](database),
    );
    const rate = (entry: typeof ours | typeof named): number =>
      median(roundsOf(entry).map(({ perSecond }) => perSecond));
    return [ours, named].map(
      (entry): Figure => ({
        scenario,
        contestant: entry.title,
        unit: "/s",
        value: rate(entry),
        ratio: { to: named.title, value: rate(entry) / rate(named) },
        bar: entry === ours ? { atLeast: 1.2 } : null,
        notes: [],
        faults: faultsOf(roundsOf(entry), roundsOf(named), held),
      }),
    );
  };
}

/** One at a time of each queue, and of versions it knows nothing. */
async function workOffQueues(database: Database, { tasks }: Load, restMs?: number): Promise<WorkRound> {
  const queues = { tasks: tasks.map(({ n, resource = "" }) => ({ n, resource })) };
  const enqueuer = await CONTESTANTS.graphileBatched.openEnqueuer(database.url);
  for (let from = 0; from < tasks.length; from += TASKS)
    await enqueuer.addMany(queues.tasks.slice(from, from + TASKS));
  await enqueuer.close();
  return await workOff("graphileBatched", database, queues, restMs);
}

async function holdFor(
  bench: Bench,
  contestant: "signalbox" | "graphileBatched",
  work: (database: Database, restMs: number) => Promise<Round>,
): Promise<Round> {
  bench.note(`  untimed, ${CONTESTANTS[contestant].name} with handlers of ${REST_MS} ms`);
  const round = await bench.inDatabase(contestant, async (database) => await work(database, REST_MS));
  const faults = round.faults.map((fault) => `with handlers of ${REST_MS} ms: ${fault}`);
  for (const fault of faults) bench.note(`  void: ${fault}`);
  return { faults };
}

type Refused = Readonly<Record<GateCause, number>>;

export const allGates: Scenario = allGatesOf(
  TASKS,
  "resource, version, run limit and key limit, all binding",
);
export const longerAllGates: Scenario = allGatesOf(
  MANY_TASKS,
  "resource, version, run limit and key limit, all binding, five times as many",
);

/** Beside graphile-worker without any gate: it has none of them. */
function allGatesOf(count: number, scenario: string): Scenario {
  return async (bench) => {
    const load = fourGates(count);
    const free = { tasks: load.tasks.map(({ n }) => ({ n })) };
    const held = await holdFor(
      bench,
      "signalbox",
      async (database, restMs) => await workOffLoad(database, load, restMs),
    );
    const refused: Refused[] = [];
    const roundsOf = await inTurn(bench, [ours, theirs], async ({ contestant }, database) => {
      if (contestant === "graphileBatched") {
        await enqueueBulk(contestant, database, count);
        return await workOff(contestant, database, free);
      }
      const round = await workOffLoad(database, load);
      const counts = await countRefused(database);
      refused.push(counts);
      const unbound = GATE_CAUSES.filter((cause) => counts[cause] === 0).map(
        (cause) => `${cause} bound nobody`,
      );
      return { ...round, faults: [...round.faults, ...unbound] };
    });
    const rate = (entry: typeof ours | typeof theirs): number =>
      median(roundsOf(entry).map(({ perSecond }) => perSecond));
    const counts = GATE_CAUSES.map((cause) => `${cause} ${median(refused.map((each) => each[cause]))}`);
    return [
      {
        scenario,
        contestant: ours.title,
        unit: "/s",
        value: rate(ours),
        ratio: { to: `${theirs.title}, without gates`, value: rate(ours) / rate(theirs) },
        bar: { atLeast: 0.3 },
        notes: [`of ${count} tasks so many had to wait at each gate: ${counts.join(", ")}`],
        faults: faultsOf(roundsOf(ours), roundsOf(theirs), [held]),
      },
    ];
  };
}

/** How many waited at each gate: rows keep where they waited, and how long. */
async function countRefused(database: Database): Promise<Refused> {
  const columns = GATE_CAUSES.map(
    (cause) => `count(*) FILTER (WHERE waited ? '${cause}')::int AS "${cause}"`,
  );
  const [row] = await database.query<Refused>(`SELECT ${columns.join(", ")} FROM signalbox.task_run`);
  if (row === undefined) throw new Error("The database does not say who waited");
  return row;
}
