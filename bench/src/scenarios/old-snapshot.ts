/** Somebody leaves a transaction open: nothing that is deleted meanwhile can be cleared away. What claims cost then. */

import pg from "pg";
import { type Bench, entryOf, faultsOf, inTurn, type Round, type Scenario } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Database } from "../database.ts";
import type { Figure } from "../figure.ts";
import { measureBacklog } from "../measure-backlog.ts";
import { measureBeside } from "../measure-beside.ts";
import { measureWork } from "../measure-work.ts";
import { median } from "../statistics.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

const WHEN = ", beside an old snapshot";
/** They come and go before it is measured. */
const BEFORE = 150_000;
const MEASURED = 20_000;

interface Claims extends Round {
  readonly usPerTask: number;
}

async function workOff(database: Database, tasks: number): Promise<readonly string[]> {
  await enqueueBulk("signalbox", database, tasks);
  const request = { contestant: "signalbox", database, tasks } as const;
  return (await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 })).faults;
}

async function measureClaims(database: Database): Promise<Claims> {
  const before = await workOff(database, BEFORE);
  await database.query("SELECT pg_stat_statements_reset()");
  const faults = [...before, ...(await workOff(database, MEASURED))];
  const [row] = await database.query<{ ms: number }>(
    // The claim itself, and the look whether there is more.
    `SELECT sum(total_exec_time) AS ms FROM pg_stat_statements
      WHERE query LIKE '%DELETE FROM signalbox.ready%RETURNING task_run_id%' OR query LIKE '%FROM served AS s%LIMIT $_) AS r%'`,
  );
  return { usPerTask: ((row?.ms ?? Number.NaN) / MEASURED) * 1_000, faults };
}

async function besideSnapshot<Result>(database: Database, act: () => Promise<Result>): Promise<Result> {
  const holder = new pg.Client({ connectionString: database.url });
  // The server that ends says goodbye to it, which must not hide why it does.
  holder.on("error", () => {});
  await holder.connect();
  try {
    await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await holder.query("SELECT count(*) FROM signalbox.ready");
    return await act();
  } finally {
    await holder.end();
  }
}

/** The short run takes one round of each, without long backlogs. */
export const oldSnapshot: Scenario = async (bench) => {
  const without = { ...entryOf("signalbox"), title: "without an old snapshot" };
  const held = { ...entryOf("signalbox"), title: "beside an old snapshot" };
  const roundsOf = await inTurn(
    { ...bench, rounds: bench.full ? 3 : 1 },
    [without, held],
    async (entry, database) =>
      entry === held
        ? await besideSnapshot(database, async () => await measureClaims(database))
        : await measureClaims(database),
  );
  const cost = (entry: typeof held): number => median(roundsOf(entry).map(({ usPerTask }) => usPerTask));
  const claims: Figure = {
    scenario: "claims beside an old snapshot, 150,000 tasks later",
    contestant: signalbox.name,
    unit: "µs of each",
    value: cost(held),
    ratio: { to: "without it", value: cost(held) / cost(without) },
    bar: { atMost: 2 },
    notes: [],
    faults: faultsOf(roundsOf(held), roundsOf(without)),
  };
  return bench.full ? [claims, ...(await measureBesideSnapshot(bench))] : [claims];
};

/** What holds beside long backlogs: each round beside an old snapshot of its own, and so many tasks later. */
async function measureBesideSnapshot(bench: Bench): Promise<readonly Figure[]> {
  const faults = new Set<string>();
  const held: Bench = {
    ...bench,
    inDatabase: async (contestant, use) =>
      await bench.inDatabase(
        contestant,
        async (database) =>
          await besideSnapshot(database, async () => {
            for (const fault of await workOff(database, BEFORE)) faults.add(fault);
            return await use(database);
          }),
      ),
  };
  const figures = [...(await measureBacklog(held, WHEN)), ...(await measureBeside(held, WHEN))];
  return figures.map((figure) => ({ ...figure, faults: [...faults, ...figure.faults] }));
}
