/** One PostgreSQL 18 with its durability as it comes; a fresh database for every round of every contestant. */

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { removePostgres } from "../../packages/server/dist/postgres/remove.js";
import { startPostgres } from "../../packages/server/dist/postgres/start.js";
import type { Database } from "./database.ts";

export interface Server {
  readonly version: string;
  readonly createDatabase: () => Promise<Database>;
  /** With all that it has seen: page by page. Whoever is connected to the other is sent away meanwhile. */
  readonly copyDatabase: (database: Database) => Promise<Database>;
  readonly stop: () => Promise<void>;
}

export async function startServer(): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  // The server may run as another user.
  chmodSync(dir, 0o755);
  const settings = {
    shared_buffers: "256MB",
    max_connections: "200",
    max_wal_size: "4GB",
    min_wal_size: "4GB",
    shared_preload_libraries: "pg_stat_statements",
    "pg_stat_statements.track": "top",
  };
  const postgres = await startPostgres({ dir, settings });
  const admin = new pg.Pool({ connectionString: postgres.url, max: 2 });
  // The server that ends says goodbye to it, which must not end the run before its table is printed.
  admin.on("error", () => {});
  const stop = async (): Promise<void> => {
    await admin.end();
    await postgres.stop();
    await removePostgres(dir);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await fillLog(admin);
  } catch (error) {
    await stop();
    throw error;
  }
  let created = 0;
  const create = async (how: string): Promise<Database> => {
    created += 1;
    const name = `bench_${created}`;
    await admin.query(`CREATE DATABASE ${name} ${how}`);
    const url = new URL(postgres.url);
    url.pathname = name;
    const pool = new pg.Pool({ connectionString: url.href, max: 2 });
    // When the database is dropped, its goodbye must not hide what went before.
    pool.on("error", () => {});
    await pool.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    return {
      name,
      url: url.href,
      query: async (text, values = []) => (await pool.query(text, [...values])).rows,
      drop: async () => {
        await pool.end();
        // The server waits some seconds for those that are leaving; then also from under a worker that a failed round has left.
        await admin
          .query(`DROP DATABASE ${name}`)
          .catch(async () => await admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
      },
    };
  };
  return {
    version: postgres.version,
    createDatabase: async () => await create(""),
    copyDatabase: async ({ name }) => {
      await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
      return await create(`TEMPLATE ${name} STRATEGY FILE_COPY`);
    },
    stop,
  };
}

const LOG_FILES = 250;

/**
 * A new server makes each file of its log when it comes to it, and whoever commits waits for that, 45 ms at a time. One that has been
 * there for an hour takes those that it does not need any more, and so does this one then, up to `min_wal_size`.
 */
async function fillLog(admin: pg.Pool): Promise<void> {
  for (let file = 0; file < LOG_FILES; file += 1) {
    // Nothing is switched where nothing has been written.
    await admin.query("SELECT pg_logical_emit_message(false, 'bench', '')");
    await admin.query("SELECT pg_switch_wal()");
  }
  // Of two the second one knows how much is written between them.
  await admin.query("CHECKPOINT");
  await admin.query("CHECKPOINT");
}
