/** A process per task, its output captured: as fast as the same Node can start them by itself, or faster. */

import { inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { measureProcessMemory, type ProcessMemory } from "../measure-process-memory.ts";
import { measureWork } from "../measure-work.ts";
import { median } from "../statistics.ts";

const TASKS = 1_000;
const IN_FLIGHT = 32;

export const processes: Scenario = async (bench) => {
  const contestants = ["signalboxProcesses", "spawned"] as const satisfies readonly ContestantKey[];
  const results = await inTurn(bench, contestants, async (contestant, database) => {
    const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
    await enqueuer.addMany(Array.from({ length: TASKS }, (_, n) => ({ n })));
    await enqueuer.close();
    return await measureWork({ contestant, database, tasks: TASKS, concurrency: IN_FLIGHT, processes: 1 });
  });
  const of = (key: (typeof contestants)[number], what: "perSecond" | "longestBlockMs"): number =>
    median((results.get(key) ?? []).map((round) => round[what]));
  const memories = await inTurn(
    bench,
    ["signalboxSleepers"],
    async (_, database) => await measureProcessMemory(database),
  );
  const figures = contestants.flatMap((key): readonly Figure[] => {
    const isOurs = key === "signalboxProcesses";
    const faults = (results.get(key) ?? []).flatMap((round) => round.faults);
    const common = { contestant: CONTESTANTS[key].name, notes: [], faults };
    return [
      {
        ...common,
        scenario: "processes, 32 at once",
        unit: "/s",
        value: of(key, "perSecond"),
        ratio: { to: CONTESTANTS.spawned.name, value: of(key, "perSecond") / of("spawned", "perSecond") },
        bar: isOurs ? { atLeast: 1.0 } : null,
      },
      {
        ...common,
        scenario: "event loop blocked at most, by processes",
        unit: "ms",
        value: of(key, "longestBlockMs"),
        ratio: null,
        bar: isOurs ? { atMost: 20 } : null,
      },
    ];
  });
  return [...figures, memoryFigure(memories.get("signalboxSleepers") ?? [])];
};

function memoryFigure(rounds: readonly ProcessMemory[]): Figure {
  const ofEach = rounds.map(({ many, withOneKb, withManyKb }) => (withManyKb - withOneKb) / (many - 1));
  const mb = (kb: readonly number[]): string => (median(kb) / 1_024).toFixed(0);
  const withOne = mb(rounds.map(({ withOneKb }) => withOneKb));
  const withMany = mb(rounds.map(({ withManyKb }) => withManyKb));
  return {
    scenario: "memory of instance and warden for each idle process",
    contestant: CONTESTANTS.signalboxSleepers.name,
    unit: "KB",
    value: median(ofEach),
    ratio: null,
    bar: null,
    notes: [`${withOne} MB beside one process, ${withMany} MB beside ${rounds[0]?.many}, resident`],
    faults: [],
  };
}
