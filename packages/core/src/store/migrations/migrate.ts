/**
 * Brings the schema up to date: forward only, one process at a time, step by step. Every step is
 * recorded with what it did, so a process that dies in the middle is followed by one that goes on.
 */

import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { SchedulerError } from "../../domain/errors.ts";
import { endClient } from "../end-client.ts";
import { type Migration, type MigrationStep, readMigrations } from "./read-migrations.ts";

/** Any fixed number; "sbox" as bytes. */
const MIGRATION_LOCK = 0x73626f78;
const OLDEST_SERVER = 140_000;
/** A step that needs a strong lock gives up this soon and tries again, so that no queue builds up behind it. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = "55P03";

export interface MigrateOptions {
  /** A direct connection: the lock is held by the session. */
  readonly url: string;
  /** For tests of an older schema. Default: the newest. */
  readonly upTo?: number;
}

export async function migrate({
  url,
  upTo,
}: MigrateOptions): Promise<{ readonly applied: readonly string[] }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: "signalbox migrate",
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await requireServer(client);
    await takeLock(client);
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    return { applied: await applyMissing(client, upTo ?? Number.POSITIVE_INFINITY) };
  } finally {
    // Ending the session gives the lock back.
    await endClient(client);
  }
}

async function requireServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version",
  );
  const server = rows[0];
  if (server !== undefined && server.number < OLDEST_SERVER) {
    throw new SchedulerError("DATABASE_TOO_OLD", { version: server.version });
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  // Asked again and again instead of waited for: a waiting statement has a snapshot, and CREATE INDEX
  // CONCURRENTLY in the session that has the lock would wait for that snapshot to go.
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>("SELECT pg_try_advisory_lock($1) AS locked", [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.locked === true) return;
    await wait(50);
  }
}

async function applyMissing(client: pg.Client, upTo: number): Promise<readonly string[]> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS signalbox;
    CREATE TABLE IF NOT EXISTS signalbox.migration (
      number     integer NOT NULL,
      step       integer NOT NULL,
      name       text NOT NULL,
      checksum   text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (number, step)
    )`);
  const { rows } = await client.query<{ number: number; step: number; name: string; checksum: string }>(
    "SELECT number, step, name, checksum FROM signalbox.migration",
  );
  const known = readMigrations();
  const newestKnown = Math.max(...known.map(({ number }) => number));
  const newestFound = Math.max(0, ...rows.map(({ number }) => number));
  if (newestFound > newestKnown)
    throw new SchedulerError("SCHEMA_TOO_NEW", { found: newestFound, known: newestKnown });
  const applied: string[] = [];
  for (const migration of known.filter(({ number }) => number <= upTo)) {
    const done = rows.filter(({ number }) => number === migration.number);
    if (done.some(({ checksum }) => checksum !== migration.checksum)) {
      throw new SchedulerError("MIGRATION_CHANGED", { name: migration.name });
    }
    const missing = [...migration.steps.entries()].filter(([step]) => !done.some((row) => row.step === step));
    for (const [step, { text, inTransaction }] of missing) {
      await applyStep(client, { migration, step, text, inTransaction });
    }
    if (missing.length > 0) applied.push(migration.name);
  }
  return applied;
}

interface StepToApply extends MigrationStep {
  readonly migration: Migration;
  readonly step: number;
}

async function applyStep(client: pg.Client, step: StepToApply): Promise<void> {
  for (;;) {
    try {
      return await (step.inTransaction ? applyInTransaction(client, step) : applyOutside(client, step));
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      await wait(200);
    }
  }
}

async function applyInTransaction(client: pg.Client, step: StepToApply): Promise<void> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  try {
    await client.query(step.text);
    await record(client, step);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function applyOutside(client: pg.Client, step: StepToApply): Promise<void> {
  // One by one: several statements in one message would be one transaction.
  const statements = step.text.split(/;\s*$/m).filter((text) => text.replace(/^--.*$/gm, "").trim() !== "");
  for (const text of statements) await client.query(text);
  await record(client, step);
}

async function record(client: pg.Client, { migration, step }: StepToApply): Promise<void> {
  await client.query(
    "INSERT INTO signalbox.migration (number, step, name, checksum) VALUES ($1, $2, $3, $4)",
    [migration.number, step, migration.name, migration.checksum],
  );
}
