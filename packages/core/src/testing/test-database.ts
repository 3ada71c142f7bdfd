/** A database per test file, cloned from a migrated template: real commits, real locks, real NOTIFY. */

import { createHash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../store/migrations/migrate.ts";
import { readMigrations } from "../store/migrations/read-migrations.ts";

/** A database of a test's own. */
export interface TestDatabase {
  /** For `createManualScheduler`, `createScheduler` and your own code. */
  readonly url: string;
  /** A plain connection, for arranging and for looking. */
  readonly client: pg.Client;
  /** Empties every table between two tests. */
  clear: () => Promise<void>;
  /** Drops the database. */
  drop: () => Promise<void>;
}

const TEMPLATE_LOCK = 0x73627465;

/** `adminUrl` leads to any database of a server on which databases may be created. */
export async function createTestDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `sb_test_${randomBytes(6).toString("hex")}`;
  await withAdmin(adminUrl, async (admin) => {
    const template = await requireTemplate(admin, adminUrl);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  const url = withDatabase(adminUrl, name);
  const client = new pg.Client({
    connectionString: url,
    query_timeout: 30_000,
    application_name: "signalbox test",
  });
  await client.connect();
  return {
    url,
    client,
    clear: async () => await clear(client),
    drop: async () => {
      await client.end();
      await withAdmin(adminUrl, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      });
    },
  };
}

/** Beyond this a table is emptied faster by giving it a new file. */
const LARGE_BYTES = 4_194_304;

async function clear(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; large: boolean }>(
    `SELECT format('signalbox.%I', relname) AS name, pg_relation_size(oid) > $1 AS large
       FROM pg_class
      WHERE relnamespace = 'signalbox'::regnamespace AND relkind = 'r' AND relname NOT IN ('migration', 'known_timeline')`,
    [LARGE_BYTES],
  );
  const names = rows.map(({ name }) => name);
  if (names.length === 0) return;
  if (rows.some(({ large }) => large)) await client.query(`TRUNCATE ${names.join(", ")}`);
  // All in one statement: what refers to another table is checked at its end.
  else
    await client.query(
      `WITH ${names.map((name, index) => `t${index} AS (DELETE FROM ${name})`).join(", ")} SELECT`,
    );
}

/** Migrated once per server and set of migrations, whoever comes first. */
async function requireTemplate(admin: pg.Client, adminUrl: string): Promise<string> {
  const texts = readMigrations()
    .map(({ checksum }) => checksum)
    .join();
  const template = `sb_template_${createHash("sha256").update(texts).digest("hex").slice(0, 16)}`;
  // CREATE DATABASE waits for nobody who copies the template, so the copying is done one after the other.
  while (!(await tryLock(admin))) await wait(20);
  const { rowCount } = await admin.query("SELECT FROM pg_database WHERE datname = $1", [template]);
  if (rowCount === 0) {
    // What a run that was killed in the middle left behind.
    await admin.query(`DROP DATABASE IF EXISTS ${template}_new`);
    await admin.query(`CREATE DATABASE ${template}_new`);
    await migrate({ url: withDatabase(adminUrl, `${template}_new`) });
    await admin.query(`ALTER DATABASE ${template}_new RENAME TO ${template}`);
  }
  return template;
}

async function tryLock(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query<{ locked: boolean }>("SELECT pg_try_advisory_lock($1) AS locked", [
    TEMPLATE_LOCK,
  ]);
  return rows[0]?.locked === true;
}

async function withAdmin(adminUrl: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl, query_timeout: 60_000 });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
