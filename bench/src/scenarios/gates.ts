/** With gates: resources held alone and versions in order, and then four gates that all bind at once. */

import { inTurn, type Scenario } from "../bench.ts";
import type { Load } from "../contestants/contestant.ts";
import { CONTESTANTS } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { gateFaults } from "../gate-faults.ts";
import { measureWork } from "../measure-work.ts";
import { median } from "../statistics.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const TASKS = 20_000;
const RESOURCES = 2_000;

/** On resources that are called like this. */
export const linesOn = (name: string): Load => ({
  tasks: Array.from({ length: TASKS }, (_, n) => ({
    n,
    resource: `${name}-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  })),
});
const lines = linesOn("database");

const KEYS = 100;
const fourGates: Load = {
  tasks: lines.tasks.map((task) => ({ ...task, key: `${task.n % KEYS}` })),
  runs: { count: 50, limit: 20 },
  keyLimit: 10,
};

/** graphile-worker runs a named queue one at a time: no versions, nothing kept. */
export const exclusive: Scenario = async (bench) => {
  const contestants = ["signalbox", "graphileBatched"] as const;
  const results = await inTurn(bench, contestants, async (contestant, database) => {
    await enqueue(contestant, database.url, lines);
    const round = await measureWork({
      contestant,
      database,
      tasks: TASKS,
      concurrency: CONCURRENCY,
      processes: 1,
    });
    const faults = contestant === "signalbox" ? await gateFaults(database, lines) : [];
    return { ...round, faults: [...round.faults, ...faults] };
  });
  const rate = (key: (typeof contestants)[number]): number =>
    median((results.get(key) ?? []).map(({ perSecond }) => perSecond));
  return contestants.map(
    (key): Figure => ({
      scenario: "one resource each, held alone, versions in order",
      contestant: key === "signalbox" ? CONTESTANTS[key].name : "graphile-worker, named queues",
      unit: "/s",
      value: rate(key),
      ratio: { to: "graphile-worker, named queues", value: rate(key) / rate("graphileBatched") },
      bar: key === "signalbox" ? { atLeast: 1.2 } : null,
      notes: [],
      faults: (results.get(key) ?? []).flatMap(({ faults }) => faults),
    }),
  );
};

/** Beside graphile-worker without any gate: it has none of them. */
export const allGates: Scenario = async (bench) => {
  const results = await inTurn(
    bench,
    ["signalbox", "graphileBatched"] as const,
    async (contestant, database) => {
      if (contestant === "signalbox") await enqueue(contestant, database.url, fourGates);
      else await enqueueBulk(contestant, database, TASKS);
      const round = await measureWork({
        contestant,
        database,
        tasks: TASKS,
        concurrency: CONCURRENCY,
        processes: 1,
      });
      const faults = contestant === "signalbox" ? await gateFaults(database, fourGates) : [];
      return { ...round, faults: [...round.faults, ...faults] };
    },
  );
  const rounds = results.get("signalbox") ?? [];
  const ours = median(rounds.map(({ perSecond }) => perSecond));
  const theirs = median((results.get("graphileBatched") ?? []).map(({ perSecond }) => perSecond));
  return [
    {
      scenario: "resource, version, run limit and key limit, all binding",
      contestant: CONTESTANTS.signalbox.name,
      unit: "/s",
      value: ours,
      ratio: { to: `${CONTESTANTS.graphileBatched.name}, without gates`, value: ours / theirs },
      bar: { atLeast: 0.3 },
      notes: [],
      faults: rounds.flatMap(({ faults }) => faults),
    },
  ];
};

async function enqueue(contestant: "signalbox" | "graphileBatched", url: string, load: Load): Promise<void> {
  const { enqueueLoad, openEnqueuer } = CONTESTANTS[contestant];
  if (enqueueLoad !== undefined) return await enqueueLoad(url, load);
  const enqueuer = await openEnqueuer(url);
  await enqueuer.addMany(load.tasks);
  await enqueuer.close();
}
