import { Client } from "pg";
import { systemCode } from "./file-error.ts";

const TIMEOUT_MS = 30_000;
// Two processes at once: the loser sees the name taken, or the unique index of the catalogue.
const MADE_BY_ANOTHER = new Set(["42P04", "23505"]);

/** Creates the database of the given URL unless it is there. Connects to the maintenance database. */
export async function createDatabase(maintenanceUrl: string, name: string): Promise<void> {
  const client = new Client({
    connectionString: maintenanceUrl,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    // Asked first, because a standby has it and could not create it.
    const { rowCount } = await client.query(`SELECT FROM pg_database WHERE datname = $1`, [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (!MADE_BY_ANOTHER.has(systemCode(error))) throw error;
  } finally {
    await client.end().catch(() => {});
  }
}
