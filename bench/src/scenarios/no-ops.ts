/** Tasks that do nothing and wait for nothing: what a worker costs by itself. Enqueued in bulk, which is timed too. */

import { type Bench, inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import type { Database } from "../server.ts";
import { median } from "../statistics.ts";

const TASKS = 20_000;
/** Those who go one by one get fewer: their rate is the same, and the run shorter. */
const FEW_TASKS = 3_000;
const BULK = 1_000;
export const CONCURRENCY = 500;

interface Round extends WorkRound {
  readonly enqueuedPerSecond: number;
}

const ONE_BY_ONE: readonly ContestantKey[] = ["graphilePlain", "pgBossSingle"];

async function round(contestant: ContestantKey, database: Database, processes: number): Promise<Round> {
  const tasks = ONE_BY_ONE.includes(contestant) ? FEW_TASKS : TASKS;
  const enqueuedPerSecond = await enqueueBulk(contestant, database, tasks);
  const work = await measureWork({ contestant, database, tasks, concurrency: CONCURRENCY, processes });
  return { ...work, enqueuedPerSecond };
}

export async function enqueueBulk(
  contestant: ContestantKey,
  { url }: Database,
  tasks: number,
): Promise<number> {
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(url);
  const bulks = Array.from({ length: tasks / BULK }, (_, bulk) =>
    Array.from({ length: BULK }, (_, n) => ({ n: bulk * BULK + n })),
  );
  const fromMs = performance.now();
  for (const bulk of bulks) await enqueuer.addMany(bulk);
  const tookMs = performance.now() - fromMs;
  await enqueuer.close();
  return (tasks / tookMs) * 1_000;
}

export const oneProcess: Scenario = async (bench) => {
  const contestants = [
    "signalbox",
    "graphileBatched",
    "pgBossBatched",
    "graphilePlain",
    "pgBossSingle",
    "raw",
  ] as const;
  const results = await inTurn(bench, contestants, async (key, database) => await round(key, database, 1));
  const rate = (key: ContestantKey): number =>
    median((results.get(key as never) ?? []).map(({ perSecond }) => perSecond));
  const enqueued = (key: ContestantKey): number =>
    median((results.get(key as never) ?? []).map(({ enqueuedPerSecond }) => enqueuedPerSecond));
  return contestants.flatMap((key): readonly Figure[] => {
    const rounds = results.get(key) ?? [];
    const common = {
      contestant: CONTESTANTS[key].name,
      unit: "/s",
      faults: rounds.flatMap(({ faults }) => faults),
    };
    const beside = (scenario: string, of: typeof rate, atLeast: number): Figure => ({
      ...common,
      scenario,
      value: of(key),
      ratio: { to: CONTESTANTS.graphileBatched.name, value: of(key) / of("graphileBatched") },
      bar: key === "signalbox" ? { atLeast } : null,
      notes: scenario === NO_OPS ? [costs(rounds, ONE_BY_ONE.includes(key) ? FEW_TASKS : TASKS)] : [],
    });
    return [beside(NO_OPS, rate, 1.2), beside("bulk enqueue", enqueued, 1.0)];
  });
};

const NO_OPS = "no-ops, one process";

export const twoProcesses: Scenario = async (bench: Bench) => {
  const contestants = ["signalbox", "graphileBatched"] as const;
  const one = await inTurn(
    { ...bench, rounds: 1 },
    ["signalbox"],
    async (key, database) => await round(key, database, 1),
  );
  const results = await inTurn(bench, contestants, async (key, database) => await round(key, database, 2));
  const single = median((one.get("signalbox") ?? []).map(({ perSecond }) => perSecond));
  return contestants.flatMap((key): readonly Figure[] => {
    const rounds = results.get(key) ?? [];
    const value = median(rounds.map(({ perSecond }) => perSecond));
    const isOurs = key === "signalbox";
    const common = {
      contestant: CONTESTANTS[key].name,
      notes: [],
      faults: rounds.flatMap(({ faults }) => faults),
    };
    return [
      {
        ...common,
        scenario: "no-ops, two processes",
        unit: "/s",
        value,
        ratio: isOurs ? { to: "one process", value: value / single } : null,
        bar: isOurs ? { atLeast: 0.9 } : null,
      },
      {
        ...common,
        scenario: "share of the one that got less",
        unit: "of 1",
        value: median(rounds.map(({ shares }) => Math.min(...shares))),
        ratio: null,
        bar: isOurs ? { atLeast: 0.3 } : null,
      },
    ];
  });
};

/** What one task costs from its claim to its end. */
function costs(rounds: readonly WorkRound[], tasks: number): string {
  const per = (of: (round: WorkRound) => number): number => median(rounds.map(of)) / tasks;
  const server = per(({ spent }) => spent.serverCpuMs) * 1_000;
  const node = per(({ nodeCpuMs }) => nodeCpuMs) * 1_000;
  const wal = per(({ spent }) => spent.walBytes);
  const statements = per(({ spent }) => spent.statements);
  return `per task ${server.toFixed(0)} µs of the server, ${node.toFixed(0)} µs of Node, ${wal.toFixed(0)} bytes of WAL, ${statements.toFixed(3)} statements`;
}
