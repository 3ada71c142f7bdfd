/** The default of the database's transactions is of no account: ours name their level, and that they write. */

import type pg from "pg";
import { expect } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

/** For `prepare` of a rig. No pass may fail with 40001 afterwards. */
export function defaultIsolation(level: "repeatable read" | "serializable"): (db: pg.Pool) => Promise<void> {
  return async (db) => {
    const { rows } = await db.query<{ name: string }>("SELECT current_database() AS name");
    await db.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_isolation = '${level}'`);
  };
}

export function readOnly({ code }: ToldError): boolean {
  return code === "25006";
}

export async function makeReadOnlyTheDefault(
  { cluster, db }: Rig,
  { forMs, tasks }: { readonly forMs: number; readonly tasks: number },
): Promise<Shown> {
  await db.query("ALTER SYSTEM SET default_transaction_read_only = on");
  await db.query("SELECT pg_reload_conf()");
  const settledBefore = cluster.count("task_run.settled");
  const fencedBefore = cluster.count("instance.fenced");
  const settled = (): number => cluster.count("task_run.settled") - settledBefore;
  const fromMs = performance.now();
  await until(
    "work is done for longer than a lease",
    () => performance.now() > fromMs + forMs && settled() > tasks,
    { withinMs: WITHIN_MS },
  );
  const fenced = cluster.count("instance.fenced") - fencedBefore;
  await db.query("ALTER SYSTEM RESET default_transaction_read_only");
  await db.query("SELECT pg_reload_conf()");

  expect(fenced).toBe(0);
  return { faults: { "read-only default": 1 }, paths: { "settled meanwhile": settled() } };
}
