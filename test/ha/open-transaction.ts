import pg from "pg";

/**
 * A transaction at the level at which an instance has its own, whatever is the default of the database: who acts in
 * the name of one must not meet a serialisation failure that no instance would. `end()` rolls back what is not committed.
 */
export async function openTransaction(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, query_timeout: 10_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}
