/** Enqueuing one by one, as requests of users come: 16 calls in flight. */

import { entryOf, faultsOf, inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";

const TASKS = 4_000;
const IN_FLIGHT = 16;

export const oneByOne: Scenario = async (bench) => {
  const entries = (["signalbox", "graphilePlain", "pgBossSingle"] as const).map(entryOf);
  const roundsOf = await inTurn(bench, entries, async ({ contestant }, database) => {
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
  const rate = (entry: (typeof entries)[number]): number =>
    median(roundsOf(entry).map(({ perSecond }) => perSecond));
  const peers = entries.filter(({ contestant }) => contestant !== "signalbox");
  const best = Math.max(...peers.map(rate));
  return entries.map(
    (entry): Figure => ({
      scenario: "enqueue one by one, 16 in flight",
      contestant: entry.title,
      unit: "/s",
      value: rate(entry),
      ratio: { to: "the better of them", value: rate(entry) / best },
      bar: entry.contestant === "signalbox" ? { atLeast: 2 } : null,
      notes: [],
      faults: faultsOf(roundsOf(entry), ...peers.map(roundsOf)),
    }),
  );
};
