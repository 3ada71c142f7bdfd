/** Enqueuing in bulk, and one by one, as requests of users come: 16 calls in flight. */

import { entryOf, faultsOf, inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS } from "../contestants/index.ts";
import type { Database } from "../database.ts";
import type { Figure } from "../figure.ts";
import { rateFigures } from "../rate-figures.ts";
import { median } from "../statistics.ts";

const BULK = 1_000;
/** One takes 10 ms: of so many the pauses of the machine are a small part. */
const BULKS = 60;
const WARM_BULKS = 5;
const BULK_ROUNDS = 7;

export const bulk: Scenario = async (bench) => {
  const entries = (["signalbox", "graphileBatched", "pgBossBatched"] as const).map(entryOf);
  const roundsOf = await inTurn({ ...bench, rounds: BULK_ROUNDS }, entries, async (entry, database) => {
    const { openEnqueuer, leftSql } = CONTESTANTS[entry.contestant];
    const enqueuer = await openEnqueuer(database.url);
    const add = async (from: number, to: number): Promise<void> => {
      for (let at = from; at < to; at += 1)
        await enqueuer.addMany(Array.from({ length: BULK }, (_, n) => ({ n: at * BULK + n })));
    };
    await add(0, WARM_BULKS);
    const fromMs = performance.now();
    await add(WARM_BULKS, WARM_BULKS + BULKS);
    const perSecond = (BULKS * BULK * 1_000) / (performance.now() - fromMs);
    await enqueuer.close();
    return { perSecond, faults: await missing(database, leftSql, (WARM_BULKS + BULKS) * BULK) };
  });
  return rateFigures(entries, { scenario: "bulk enqueue", roundsOf, rival: "graphileBatched", atLeast: 1.0 });
};

async function missing(database: Database, leftSql: string, tasks: number): Promise<readonly string[]> {
  const [row] = await database.query<{ left: string }>(leftSql);
  const there = Number(row?.left);
  return there === tasks ? [] : [`${there} of ${tasks} are there`];
}

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
    return { perSecond, faults: await missing(database, CONTESTANTS[contestant].leftSql, TASKS + IN_FLIGHT) };
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
