/** Somebody leaves a transaction open: nothing that is deleted meanwhile can be cleared away. What claims cost then. */

import pg from "pg";
import type { Bench, Scenario } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import { measureWork } from "../measure-work.ts";
import type { Database } from "../server.ts";
import { CONCURRENCY, enqueueBulk } from "./no-ops.ts";

/** They come and go before it is measured. */
const BEFORE = 150_000;
const MEASURED = 20_000;

interface Claims {
  readonly usPerTask: number;
  readonly faults: readonly string[];
}

async function measureClaims(database: Database): Promise<Claims> {
  const pass = async (tasks: number): Promise<readonly string[]> => {
    await enqueueBulk("signalbox", database, tasks);
    const request = { contestant: "signalbox", database, tasks } as const;
    return (await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 })).faults;
  };
  const before = await pass(BEFORE);
  await database.query("SELECT pg_stat_statements_reset()");
  const faults = [...before, ...(await pass(MEASURED))];
  const [row] = await database.query<{ ms: number }>(
    "SELECT sum(total_exec_time) AS ms FROM pg_stat_statements WHERE query LIKE '%DELETE FROM signalbox.ready%RETURNING task_run_id%'",
  );
  return { usPerTask: ((row?.ms ?? Number.NaN) / MEASURED) * 1_000, faults };
}

async function measure({ server, note }: Bench, isHeld: boolean): Promise<Claims> {
  note(`  ${isHeld ? "beside an old snapshot" : "without one"}`);
  const database = await server.createDatabase();
  try {
    await signalbox.install(database.url);
    if (!isHeld) return await measureClaims(database);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await holder.query("SELECT count(*) FROM signalbox.ready");
      return await measureClaims(database);
    } finally {
      await holder.end();
    }
  } finally {
    await database.drop();
  }
}

export const oldSnapshot: Scenario = async (bench) => {
  const without = await measure(bench, false);
  const held = await measure(bench, true);
  return [
    {
      scenario: "claims beside an old snapshot, 150,000 tasks later",
      contestant: signalbox.name,
      unit: "µs of each",
      value: held.usPerTask,
      ratio: { to: "without it", value: held.usPerTask / without.usPerTask },
      bar: { atMost: 2 },
      notes: [],
      faults: [...without.faults, ...held.faults],
    },
  ];
};
