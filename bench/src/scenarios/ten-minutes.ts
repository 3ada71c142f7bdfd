/** Ten minutes of load, free tasks and lines together: whether the same work goes as fast after it as before. Signalbox beside itself. */

import type { Bench, Round, Scenario } from "../bench.ts";
import { faultsOf } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Database } from "../database.ts";
import type { Figure } from "../figure.ts";
import { keepBusy, type Load } from "../keep-busy.ts";
import { measureAged } from "../measure-aged.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import { median } from "../statistics.ts";
import { linesOn, workOffLoad } from "./gates.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const MEASURED = 20_000;
/** One takes a second, in which a checkpoint or a vacuum may fall: the medians are compared. */
const ROUNDS = 5;

interface Rates {
  readonly free: readonly WorkRound[];
  readonly inLines: readonly WorkRound[];
}

async function measure(database: Database, when: "before" | "after"): Promise<Rates> {
  const free: WorkRound[] = [];
  const inLines: WorkRound[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await enqueueBulk("signalbox", database, MEASURED);
    const request = { contestant: "signalbox", database, tasks: MEASURED } as const;
    free.push(await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 }));
    // On new resources: on the others these versions are done.
    inLines.push(await workOffLoad(database, linesOn(`${when}-${round}`)));
  }
  return { free, inLines };
}

export const tenMinutes: Scenario = async (bench) => {
  const database = await bench.server.createDatabase();
  try {
    await signalbox.install(database.url);
    return await measureTenMinutes(bench, database);
  } finally {
    await database.drop();
  }
};

async function measureTenMinutes(bench: Bench, database: Database): Promise<readonly Figure[]> {
  bench.note("  before");
  const before = await measure(database, "before");
  bench.note("  ten minutes of load");
  const busy = await keepBusy(database);
  bench.note("  after");
  const after = await measure(database, "after");
  const rate = (rounds: readonly WorkRound[]): number => median(rounds.map(({ perSecond }) => perSecond));
  const beside = (what: string, of: (rates: Rates) => readonly WorkRound[]): Figure => ({
    scenario: `${what}, after ten minutes of load`,
    contestant: signalbox.name,
    unit: "/s",
    value: rate(of(after)),
    ratio: { to: "before it", value: rate(of(after)) / rate(of(before)) },
    bar: { atLeast: 0.9 },
    notes: [],
    faults: faultsOf(of(before), of(after), [busy]),
  });
  const aged = await measureAged(bench, database, "after ten minutes of load");
  return [
    beside("no-ops", ({ free }) => free),
    beside("in lines", ({ inLines }) => inLines),
    ...aged.map((figure) => ({ ...figure, faults: [...busy.faults, ...figure.faults] })),
    ...busyFigures(busy),
  ];
}

/** What the specification of workflows says of its own system. */
function busyFigures({ done, perSecond, p99Ms, faults }: Load & Round): readonly Figure[] {
  const common = { contestant: signalbox.name, ratio: null, faults };
  return [
    {
      ...common,
      scenario: "sustained for ten minutes",
      unit: "/s",
      value: perSecond,
      bar: { atLeast: 155 },
      notes: [`${done.toLocaleString("en")} tasks were given and done, one in six in a line`],
    },
    {
      ...common,
      scenario: "from being enqueued to the end, p99, during ten minutes of load",
      unit: "ms",
      value: p99Ms,
      bar: { below: 700 },
      notes: [],
    },
  ];
}
