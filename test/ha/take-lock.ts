/** Stops an instance in the middle of a transaction: it waits for what the test has locked. */

import type { Instance } from "./instance.ts";
import { openTransaction } from "./open-transaction.ts";
import type { Rig } from "./rig.ts";
import { until } from "./until.ts";

const WITHIN_MS = 60_000;

interface Lock {
  /** An instance that waits for it. */
  waiter(): Promise<Instance>;
  release(): Promise<void>;
}

export async function takeLock(rig: Rig, statement: string, withinMs = WITHIN_MS): Promise<Lock> {
  const client = await openTransaction(rig.databaseUrl);
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  await client.query(statement);
  let waiting: readonly string[] = [];
  const blocked = async (): Promise<Instance | null> => {
    const { rows: sessions } = await rig.db.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))`,
      [rows[0]?.pid],
    );
    waiting = sessions.map(({ name }) => name);
    // Callers may wait for it too.
    return rig.cluster.running.find(({ name }) => waiting.includes(`signalbox ${name}`)) ?? null;
  };
  const instead = (): string => `those who wait are: ${waiting.join(", ")}`;
  return {
    waiter: async () =>
      await until("an instance waits for the lock", blocked, { withinMs, everyMs: 10, instead }),
    release: async () => await client.end(),
  };
}
