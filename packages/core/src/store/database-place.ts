import pg from "pg";

/** Where a URL leads to, in words that can be shown: host, port and database, never the password. Null: it is no URL of PostgreSQL. */
export function placeOf(url: string): string | null {
  if (!/^postgres(?:ql)?:\/\//.test(url)) return null;
  try {
    // By the driver itself, which also knows what the environment fills in. It connects nowhere.
    const { host, port, database } = new pg.Client({ connectionString: url });
    if (host.startsWith("/")) return `the socket ${host}/.s.PGSQL.${port} (database ${database})`;
    return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
  } catch {
    return null;
  }
}
