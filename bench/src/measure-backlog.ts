/** Whether what lies there slows what runs: Signalbox beside itself, with a long backlog and without. */

import { type Bench, type Entry, entryOf, faultsOf, inTurn, type Round } from "./bench.ts";
import type { LoadTask } from "./contestants/contestant.ts";
import { signalbox } from "./contestants/signalbox.ts";
import { type Database, databaseNow } from "./database.ts";
import type { Figure } from "./figure.ts";
import { gateFaults } from "./gate-faults.ts";
import { type Keeper, openKeeper } from "./keeper.ts";
import { measureWork } from "./measure-work.ts";
import { CONCURRENCY } from "./scenarios/no-ops.ts";
import { median } from "./statistics.ts";

const MEASURED = 20_000;
export const LONG = 500_000;
export const PARKED = 100_000;
const RESOURCES = 2_000;
const AT_ONCE = 50_000;
/** One takes half a second, in which a checkpoint or a vacuum may fall: the medians are compared. */
const ROUNDS = 5;

interface Stand {
  /** So many are there, or more; where they are not, what was measured beside them is void. */
  readonly available: number;
  readonly pending: number;
}

interface Case extends Entry, Stand {
  /** What lies there besides. */
  readonly besides: (keeper: Keeper) => Promise<void>;
  /** What is worked off, the untimed first. */
  readonly load: readonly LoadTask[];
}

interface BacklogRound extends Round {
  readonly perSecond: number;
}

const free = (count: number): readonly LoadTask[] => Array.from({ length: count }, (_, n) => ({ n }));
const inLines = (count: number): readonly LoadTask[] =>
  free(count).map(({ n }) => ({
    n,
    resource: `backlog-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  }));

/** Of lines the first of each and the first calls are new to the passes, of all Node has to get warm: that is not timed. */
const UNTIMED = MEASURED;
const plain = { ...entryOf("signalbox"), besides: async () => {} };
/** As many are left as were timed: the backlog, or a line of it, does not come to its end meanwhile, as no long one does. */
const SHORT = UNTIMED + 2 * MEASURED;
const shortLoad = inLines(SHORT);

const short: Case = {
  ...plain,
  title: "60,000 free",
  load: free(SHORT),
  available: SHORT,
  pending: 0,
};
const long: Case = {
  ...plain,
  title: "500,000 free, 500,000 waiting",
  besides: async ({ park }) => await park(LONG),
  load: free(LONG),
  available: LONG,
  pending: LONG,
};
const shortLines: Case = {
  ...plain,
  title: "60,000 in lines",
  load: shortLoad,
  available: 0,
  pending: shortLoad.length - RESOURCES,
};
const longLines: Case = {
  ...plain,
  title: "500,000 in lines beside 500,000 AVAILABLE",
  besides: async ({ makeAvailable }) => await makeAvailable(LONG),
  load: inLines(LONG),
  available: LONG,
  pending: LONG - RESOURCES,
};
const parked: Case = {
  ...plain,
  title: "60,000 in lines beside 100,000 behind one resource",
  besides: async ({ park }) => await park(PARKED),
  load: shortLoad,
  available: 0,
  pending: PARKED + shortLoad.length - RESOURCES,
};

/** `when` ends the name of each figure, as in ", after ten minutes of load". */
export async function measureBacklog(bench: Bench, when: string): Promise<readonly Figure[]> {
  const cases = [short, long, shortLines, longLines, parked];
  const roundsOf = await inTurn({ ...bench, rounds: ROUNDS }, cases, measure);
  const rate = (each: Case): number => median(roundsOf(each).map(({ perSecond }) => perSecond));
  const beside = (what: string, each: Case, base: Case, to: string): Figure => ({
    scenario: `${what}${when}`,
    contestant: signalbox.name,
    unit: "/s",
    value: rate(each),
    ratio: { to, value: rate(each) / rate(base) },
    bar: { atLeast: each === parked ? 0.85 : 0.9 },
    notes: [scatterOf(roundsOf(each)), `${to}: ${scatterOf(roundsOf(base))}`],
    faults: faultsOf(roundsOf(each), roundsOf(base)),
  });
  return [
    beside("500,000 AVAILABLE and 500,000 PENDING, free", long, short, "60,000"),
    beside("500,000 AVAILABLE and 500,000 PENDING, in lines", longLines, shortLines, "60,000"),
    beside("100,000 behind one resource, others in lines", parked, shortLines, "without them"),
  ];
}

/** The keeper is there in every case, also where nothing waits for it: it costs the same in all of them. */
async function measure({ besides, load, ...stands }: Case, database: Database): Promise<BacklogRound> {
  const keeper = await openKeeper(database);
  try {
    await besides(keeper);
    const since = await databaseNow(database);
    for (let from = 0; from < load.length; from += AT_ONCE)
      await signalbox.enqueueLoad?.(database.url, { tasks: load.slice(from, from + AT_ONCE) });
    await keeper.lookedAt();
    await database.query("VACUUM ANALYZE");
    const missing = await standFaults(stands, database);
    const { perSecond, faults } = await measureWork({
      contestant: "signalbox",
      database,
      tasks: load.length,
      load: { tasks: load },
      untimed: UNTIMED,
      upTo: UNTIMED + MEASURED,
      concurrency: CONCURRENCY,
      processes: 1,
    });
    return { perSecond, faults: [...missing, ...faults, ...(await gateFaults(database, {}, since))] };
  } finally {
    await keeper.stop();
  }
}

/** Whether the backlog is the one that the case is called after. */
export async function standFaults(
  { available, pending }: Stand,
  database: Database,
): Promise<readonly string[]> {
  const [row] = await database.query<{ available: number; pending: number }>(
    `SELECT (SELECT count(*) FROM signalbox.ready)::int AS available, (SELECT count(*) FROM signalbox.waiting)::int AS pending`,
  );
  if (row !== undefined && row.available >= available && row.pending >= pending) return [];
  return [`${row?.available} were AVAILABLE and ${row?.pending} PENDING`];
}

function scatterOf(rounds: readonly BacklogRound[]): string {
  return rounds.map(({ perSecond }) => Math.round(perSecond).toLocaleString("en")).join(", ");
}
