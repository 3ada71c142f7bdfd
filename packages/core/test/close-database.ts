import pg from "pg";

/** Lets nobody connect to a database any more, until it is opened again. Connections that are there stay. */
export async function closeDatabase(
  adminUrl: string,
  databaseUrl: string,
): Promise<{ reopen(): Promise<void> }> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  return {
    reopen: async () => {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await admin.end();
    },
  };
}
