/** Tasks that do nothing and wait for nothing: what a worker costs by itself, and what it costs to enqueue them. */

import { type Entry, entryOf, faultsOf, inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import type { Database } from "../database.ts";
import type { CostsPerTask, Figure, LifeCosts } from "../figure.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import { meter, type Spent } from "../meters.ts";
import { rateFigures } from "../rate-figures.ts";
import { median } from "../statistics.ts";

const TASKS = 20_000;
/** Those who go one by one get fewer: their rate is the same, and the run shorter. */
const FEW_TASKS = 3_000;
const BULK = 1_000;
export const CONCURRENCY = 500;

interface Enqueued {
  readonly spent: Spent;
  readonly nodeCpuMs: number;
}

interface NoOpsRound extends WorkRound {
  readonly enqueued: Enqueued;
}

const ONE_BY_ONE: readonly ContestantKey[] = ["graphilePlain", "pgBossSingle"];
const tasksOf = (contestant: ContestantKey): number => (ONE_BY_ONE.includes(contestant) ? FEW_TASKS : TASKS);

async function noOps(
  contestant: ContestantKey,
  database: Database,
  processes: number,
  tasks = tasksOf(contestant),
): Promise<NoOpsRound> {
  const enqueued = await enqueueBulk(contestant, database, tasks);
  const work = await measureWork({ contestant, database, tasks, concurrency: CONCURRENCY, processes });
  return { ...work, enqueued };
}

export async function enqueueBulk(
  contestant: ContestantKey,
  database: Database,
  tasks: number,
): Promise<Enqueued> {
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
  const bulks = Array.from({ length: tasks / BULK }, (_, bulk) =>
    Array.from({ length: BULK }, (_, n) => ({ n: bulk * BULK + n })),
  );
  const stopMeter = await meter(database);
  const cpuBefore = process.cpuUsage();
  for (const bulk of bulks) await enqueuer.addMany(bulk);
  const { user, system } = process.cpuUsage(cpuBefore);
  const spent = await stopMeter();
  await enqueuer.close();
  return { spent, nodeCpuMs: (user + system) / 1_000 };
}

export const oneProcess: Scenario = async (bench) => {
  const entries = (
    [
      "signalbox",
      "graphileBatched",
      "graphileWide",
      "pgBossBatched",
      "graphilePlain",
      "pgBossSingle",
      "raw",
    ] as const
  ).map(entryOf);
  const roundsOf = await inTurn(
    bench,
    entries,
    async ({ contestant }, database) => await noOps(contestant, database, 1),
  );
  const figures = rateFigures(entries, {
    scenario: "no-ops, one process",
    roundsOf,
    rival: "graphileBatched",
    atLeast: 1.2,
  });
  const costs = entries.map((entry) => lifeCosts(roundsOf(entry), tasksOf(entry.contestant)));
  return figures.map((figure, index) => ({ ...figure, ...(costs[index] && { costs: costs[index] }) }));
};

const MANY_TASKS = 100_000;

/** Of so few as the others count, most of the time is that in which Node gets warm. */
export const longer: Scenario = async (bench) => {
  const entries: readonly Entry[] = [entryOf("signalbox"), entryOf("graphileBatched")];
  const roundsOf = await inTurn(
    bench,
    entries,
    async ({ contestant }, database) => await noOps(contestant, database, 1, MANY_TASKS),
  );
  const scenario = "no-ops, one process, five times as many";
  return rateFigures(entries, { scenario, roundsOf, rival: "graphileBatched", atLeast: null });
};

/** One process takes its turns beside the two: what it is compared with was seen in the same minutes. */
export const twoProcesses: Scenario = async (bench) => {
  const one = { ...entryOf("signalbox"), title: "Signalbox, one process", processes: 1 };
  const two = { ...entryOf("signalbox"), processes: 2 };
  const theirs = { ...entryOf("graphileBatched"), processes: 2 };
  const roundsOf = await inTurn<Entry & { readonly processes: number }, NoOpsRound>(
    bench,
    [one, two, theirs],
    async ({ contestant, processes }, database) => await noOps(contestant, database, processes),
  );
  const rate = (entry: typeof one | typeof theirs): number =>
    median(roundsOf(entry).map(({ perSecond }) => perSecond));
  return [two, theirs].flatMap((entry): readonly Figure[] => {
    const isOurs = entry === two;
    const common = { contestant: entry.title, notes: [] };
    return [
      {
        ...common,
        scenario: "no-ops, two processes",
        unit: "/s",
        value: rate(entry),
        ratio: isOurs ? { to: "one process", value: rate(entry) / rate(one) } : null,
        bar: isOurs ? { atLeast: 0.9 } : null,
        faults: isOurs ? faultsOf(roundsOf(two), roundsOf(one)) : faultsOf(roundsOf(entry)),
      },
      {
        ...common,
        scenario: "share of the one that got less",
        unit: "of 1",
        value: median(roundsOf(entry).map(({ shares }) => Math.min(...shares))),
        ratio: null,
        bar: isOurs ? { atLeast: 0.3 } : null,
        faults: faultsOf(roundsOf(entry)),
      },
    ];
  });
};

function lifeCosts(rounds: readonly NoOpsRound[], tasks: number): LifeCosts {
  const perTask = (parts: readonly Pick<Enqueued, "spent" | "nodeCpuMs">[]): CostsPerTask => {
    const per = (of: (part: Pick<Enqueued, "spent" | "nodeCpuMs">) => number): number =>
      median(parts.map(of)) / tasks;
    return {
      serverCpuUs: per(({ spent }) => spent.serverCpuMs) * 1_000,
      nodeCpuUs: per(({ nodeCpuMs }) => nodeCpuMs) * 1_000,
      walBytes: per(({ spent }) => spent.walBytes),
      statements: per(({ spent }) => spent.statements),
    };
  };
  return { enqueue: perTask(rounds.map(({ enqueued }) => enqueued)), work: perTask(rounds) };
}
