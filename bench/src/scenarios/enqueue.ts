/** Enqueuing one by one, as requests of users come: 16 calls in flight. */

import { inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";

const TASKS = 4_000;
const IN_FLIGHT = 16;

export const oneByOne: Scenario = async (bench) => {
  const contestants = [
    "signalbox",
    "graphilePlain",
    "pgBossSingle",
  ] as const satisfies readonly ContestantKey[];
  const results = await inTurn(bench, contestants, async (contestant, database) => {
    const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
    // So that connections are open and code is warm.
    await Promise.all(Array.from({ length: IN_FLIGHT }, async (_, n) => await enqueuer.addOne({ n })));
    let next = 0;
    const fromMs = performance.now();
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (next < TASKS) {
          next += 1;
          await enqueuer.addOne({ n: next });
        }
      }),
    );
    const perSecond = (TASKS / (performance.now() - fromMs)) * 1_000;
    await enqueuer.close();
    const [row] = await database.query<{ left: string }>(CONTESTANTS[contestant].leftSql);
    const there = Number(row?.left);
    const faults = there === TASKS + IN_FLIGHT ? [] : [`${there} of ${TASKS + IN_FLIGHT} are there`];
    return { perSecond, faults };
  });
  const rate = (key: (typeof contestants)[number]): number =>
    median((results.get(key) ?? []).map(({ perSecond }) => perSecond));
  const best = Math.max(rate("graphilePlain"), rate("pgBossSingle"));
  return contestants.map(
    (key): Figure => ({
      scenario: "enqueue one by one, 16 in flight",
      contestant: CONTESTANTS[key].name,
      unit: "/s",
      value: rate(key),
      ratio: { to: "the better of them", value: rate(key) / best },
      bar: key === "signalbox" ? { atLeast: 2 } : null,
      notes: [],
      faults: (results.get(key) ?? []).flatMap(({ faults }) => faults),
    }),
  );
};
