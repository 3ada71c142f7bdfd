/**
 * Ten minutes of load, free tasks and lines together: whether the same work goes as fast after it as before, and whether
 * what holds beside long backlogs holds then too. Signalbox beside itself.
 */

import { type Bench, faultsOf, type InDatabase, type Round, type Scenario } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Database } from "../database.ts";
import type { Figure } from "../figure.ts";
import { type Kept, keepBusy } from "../keep-busy.ts";
import { measureBacklog } from "../measure-backlog.ts";
import { measureBeside } from "../measure-beside.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import type { Server } from "../server.ts";
import { median } from "../statistics.ts";
import { linesOn, workOffLoad } from "./gates.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const WHEN = ", after ten minutes of load";
const LOAD = { name: "load", forMs: 600_000 };
const MEASURED = 20_000;
/** One takes a second, in which a checkpoint or a vacuum may fall: the medians are compared. */
const ROUNDS = 5;

interface Rates {
  readonly free: readonly WorkRound[];
  readonly inLines: readonly WorkRound[];
}

async function measure(database: Database, name: "before" | "after"): Promise<Rates> {
  const free: WorkRound[] = [];
  const inLines: WorkRound[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await enqueueBulk("signalbox", database, MEASURED);
    const request = { contestant: "signalbox", database, tasks: MEASURED } as const;
    free.push(await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 }));
    // On new resources: on the others these versions are done.
    inLines.push(await workOffLoad(database, linesOn(`${name}-${round}`)));
  }
  return { free, inLines };
}

export const tenMinutes: Scenario = async (bench) =>
  await bench.inDatabase("signalbox", async (database) => {
    const { note } = bench;
    note("  before");
    const before = await measure(database, "before");
    note("  ten minutes of load");
    const busy = await keepBusy(database, LOAD);
    for (const fault of busy.faults) note(`  void: ${fault}`);
    note("  after");
    const after = await measure(database, "after");
    const aged: Bench = { ...bench, inDatabase: copiesOf(database, bench.server) };
    const backlog = [...(await measureBacklog(aged, WHEN)), ...(await measureBeside(aged, WHEN))];
    return [
      ...rateFigures(before, after, busy),
      ...backlog.map((figure) => ({ ...figure, faults: [...busy.faults, ...figure.faults] })),
      ...busyFigures(busy),
    ];
  });

/** Each round finds the same: what the one before has left is not there. */
function copiesOf(aged: Database, server: Server): InDatabase {
  return async (_, use) => {
    const copy = await server.copyDatabase(aged);
    try {
      return await use(copy);
    } finally {
      await copy.drop();
    }
  };
}

function rateFigures(before: Rates, after: Rates, busy: Round): readonly Figure[] {
  const rate = (rounds: readonly WorkRound[]): number => median(rounds.map(({ perSecond }) => perSecond));
  const beside = (what: string, of: (rates: Rates) => readonly WorkRound[]): Figure => ({
    scenario: `${what}${WHEN}`,
    contestant: signalbox.name,
    unit: "/s",
    value: rate(of(after)),
    ratio: { to: "before it", value: rate(of(after)) / rate(of(before)) },
    bar: { atLeast: 0.9 },
    notes: [],
    faults: faultsOf(of(before), of(after), [busy]),
  });
  return [beside("no-ops", ({ free }) => free), beside("in lines", ({ inLines }) => inLines)];
}

/** What the specification of workflows says of its own system. */
function busyFigures({ done, perSecond, p99Ms, faults }: Kept): readonly Figure[] {
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
