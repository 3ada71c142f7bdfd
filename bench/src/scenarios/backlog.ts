/** Long backlogs: whether what waits slows what runs, and whether it can still say why it waits. Signalbox beside itself. */

import { type Asked, askWhy, explainFigure } from "../ask-why.ts";
import { type Entry, entryOf, faultsOf, inTurn, type Round, type Scenario } from "../bench.ts";
import type { LoadTask } from "../contestants/contestant.ts";
import { signalbox } from "../contestants/signalbox.ts";
import { type Database, databaseNow } from "../database.ts";
import type { Figure } from "../figure.ts";
import { gateFaults } from "../gate-faults.ts";
import { type Keeper, openKeeper } from "../keeper.ts";
import { measureWork } from "../measure-work.ts";
import { median } from "../statistics.ts";
import { CONCURRENCY } from "./no-ops.ts";

const MEASURED = 20_000;
const LONG = 500_000;
export const PARKED = 100_000;
const RESOURCES = 2_000;
const AT_ONCE = 50_000;
const ROUNDS = 3;

interface Case extends Entry {
  /** What lies there besides. */
  readonly besides: (keeper: Keeper) => Promise<void>;
  /** What is worked off, and how many go before that are not timed. */
  readonly load: readonly LoadTask[];
  readonly untimed: number;
  /** So many stand there when the work begins, or more; a round in which they do not is void. */
  readonly available: number;
  readonly pending: number;
  readonly asksWhy: boolean;
}

interface BacklogRound extends Round {
  readonly perSecond: number;
  readonly asked: Asked | null;
}

const free = (count: number): readonly LoadTask[] => Array.from({ length: count }, (_, n) => ({ n }));
const inLines = (count: number): readonly LoadTask[] =>
  free(count).map(({ n }) => ({
    n,
    resource: `database-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  }));

const plain = { ...entryOf("signalbox"), besides: async () => {}, untimed: 0, asksWhy: false };
/** The first of each line and call are new to the passes: they are looked at while the first tasks run, which is not timed. */
const lines = { ...plain, untimed: MEASURED };
/** As many are left as were timed: no line comes to its end meanwhile, as none of a long one does. */
const shortLoad = inLines(3 * MEASURED);

const short: Case = {
  ...plain,
  title: "20,000 free",
  load: free(MEASURED),
  available: MEASURED,
  pending: 0,
};
const long: Case = {
  ...plain,
  title: "500,000 free, 500,000 waiting",
  besides: async ({ park }) => await park(LONG),
  load: free(LONG),
  available: LONG,
  pending: LONG,
  asksWhy: true,
};
const shortLines: Case = {
  ...lines,
  title: "20,000 in lines",
  load: shortLoad,
  available: 0,
  pending: shortLoad.length - RESOURCES,
};
const longLines: Case = {
  ...lines,
  title: "500,000 in lines beside 500,000 AVAILABLE",
  besides: async ({ makeAvailable }) => await makeAvailable(LONG),
  load: inLines(LONG),
  available: LONG,
  pending: LONG - RESOURCES,
};
const parked: Case = {
  ...lines,
  title: "20,000 in lines beside 100,000 behind one resource",
  besides: async ({ park }) => await park(PARKED),
  load: shortLoad,
  available: 0,
  pending: PARKED + shortLoad.length - RESOURCES,
};

export const backlog: Scenario = async (bench) => {
  const roundsOf = await inTurn(
    { ...bench, rounds: ROUNDS },
    [short, long, shortLines, longLines, parked],
    measure,
  );
  const rate = (each: Case): number => median(roundsOf(each).map(({ perSecond }) => perSecond));
  const beside = (scenario: string, each: Case, base: Case, to: string): Figure => ({
    scenario,
    contestant: signalbox.name,
    unit: "/s",
    value: rate(each),
    ratio: { to, value: rate(each) / rate(base) },
    bar: { atLeast: each === parked ? 0.85 : 0.9 },
    notes: [],
    faults: faultsOf(roundsOf(each), roundsOf(base)),
  });
  const asked = roundsOf(long).flatMap((round) => (round.asked === null ? [] : [round.asked]));
  return [
    beside("500,000 AVAILABLE and 500,000 PENDING, free", long, short, "20,000"),
    beside("500,000 AVAILABLE and 500,000 PENDING, in lines", longLines, shortLines, "20,000"),
    beside("100,000 behind one resource, others in lines", parked, shortLines, "without them"),
    explainFigure("explain beside 500,000 AVAILABLE and 500,000 PENDING, p99", asked),
  ];
};

/** The keeper is there in every case, also where nothing waits for it: it costs the same in all of them. */
async function measure(each: Case, database: Database): Promise<BacklogRound> {
  const { besides, load, untimed, asksWhy } = each;
  const keeper = await openKeeper(database);
  try {
    await besides(keeper);
    const since = await databaseNow(database);
    for (let from = 0; from < load.length; from += AT_ONCE)
      await signalbox.enqueueLoad?.(database.url, { tasks: load.slice(from, from + AT_ONCE) });
    await database.query("VACUUM ANALYZE");
    const missing = await standFaults(each, database);
    const request = { contestant: "signalbox", database, tasks: load.length, untimed } as const;
    const upTo = untimed + MEASURED;
    const round = await measureWork({ ...request, upTo, concurrency: CONCURRENCY, processes: 1 });
    return {
      perSecond: round.perSecond,
      asked: asksWhy ? await askWhy(database) : null,
      faults: [...missing, ...round.faults, ...(await gateFaults(database, {}, since))],
    };
  } finally {
    await keeper.stop();
  }
}

/** Whether the backlog is the one that the case is called after. */
async function standFaults({ available, pending }: Case, database: Database): Promise<readonly string[]> {
  const [row] = await database.query<{ available: number; pending: number }>(
    `SELECT (SELECT count(*) FROM signalbox.ready)::int AS available, (SELECT count(*) FROM signalbox.waiting)::int AS pending`,
  );
  if (row !== undefined && row.available >= available && row.pending >= pending) return [];
  return [`${row?.available} were AVAILABLE and ${row?.pending} PENDING when the work began`];
}
