/** What every test against PostgreSQL needs: its own database, schedulers that step by hand, pools, and an end to all of them. */

import { defineTask } from "../src/executors/define-task.ts";
import { openPool, type Pool } from "../src/store/database.ts";
import {
  createManualScheduler,
  type ManualOptions,
  type ManualScheduler,
} from "../src/testing/manual-scheduler.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/test-database.ts";
import { type SteppedPool, stepThrough } from "./stepped-pool.ts";

/** Its output is its input. */
export const echo = defineTask({ kind: "echo", run: (input) => input });
/** Fails every time. */
export const broken = defineTask({
  kind: "broken",
  run: () => {
    throw new Error("It does not work");
  },
});

export interface Fixture {
  readonly db: TestDatabase;
  /** An instance that knows `echo` and `broken`, unless told otherwise. */
  readonly scheduler: (options?: Partial<ManualOptions>) => Promise<ManualScheduler>;
  /** Its name is the application name, to be asked for in `pg_stat_activity`. */
  readonly pool: (name: string, url?: string) => SteppedPool;
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** A single value of a single row. */
  readonly value: <Value>(text: string, values?: readonly unknown[]) => Promise<Value>;
  readonly statusOf: (taskRunId: string) => Promise<string>;
  /** Ends what the test opened and empties the tables. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openFixture(adminUrl: string): Promise<Fixture> {
  const db = await createTestDatabase(adminUrl);
  let schedulers: ManualScheduler[] = [];
  let pools: Pool[] = [];
  const endAll = async (): Promise<void> => {
    const opened = [...schedulers, ...pools];
    schedulers = [];
    pools = [];
    await Promise.all(opened.map(async (each) => await each.close()));
  };
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await db.client.query({ text, values: [...values] })).rows;
  const value = async <Value>(text: string, values?: readonly unknown[]): Promise<Value> => {
    const [row] = await query<Record<string, Value>>(text, values);
    const [first] = Object.values(row ?? {});
    if (first === undefined) throw new Error(`No row: ${text}`);
    return first;
  };
  return {
    db,
    scheduler: async (options = {}) => {
      const scheduler = await createManualScheduler({
        databaseUrl: db.url,
        tasks: [echo, broken],
        ...options,
      });
      schedulers.push(scheduler);
      return scheduler;
    },
    pool: (name, url = db.url) => {
      const pool = openPool({ url, size: 2, queryTimeoutMs: 20_000, applicationName: name });
      pools.push(pool);
      return stepThrough(pool);
    },
    query,
    value,
    statusOf: async (taskRunId) =>
      await value<string>("SELECT status FROM signalbox.task_run WHERE id = $1", [taskRunId]),
    clear: async () => {
      await endAll();
      await db.clear();
    },
    close: async () => {
      await endAll();
      await db.drop();
    },
  };
}
