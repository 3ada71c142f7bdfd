/**
 * A standby out of the npm binaries, which have no pg_basebackup: the low-level backup in SQL and a copy of the data
 * folder. As root the files belong to the server's user, as the primary's do.
 */

import { appendFile, chmod, chown, cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import pg from "pg";

/** What a copy must not have, or makes anew. `pg_wal` is filled by the primary's stream. */
const LEFT_OUT = new Set(["postmaster.pid", "postmaster.opts"]);
const EMPTIED = ["pg_wal", "pg_replslot", "pg_notify", "pg_subtrans", "pg_stat_tmp", "pg_dynshmem"];

export interface Copied {
  readonly primaryUrl: string;
  /** The primary's data folder. */
  readonly from: string;
  /** The folder for the standby; `postgres/data` is made in it. */
  readonly dir: string;
  /** By this name a primary knows its synchronous standby. */
  readonly name: string;
}

/** Afterwards a server that is started in `dir` is a standby of the primary. */
export async function copyForStandby({ primaryUrl, from, dir, name }: Copied): Promise<void> {
  const to = join(dir, "postgres", "data");
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  await cp(join(dirname(from), "password"), join(dirname(to), "password"));
  const client = new pg.Client({ connectionString: primaryUrl, query_timeout: 60_000 });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start($1, fast => true)", [name]);
    await copyData(from, to);
    const { rows } = await client.query<{ labelfile: string }>(
      "SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)",
    );
    await writeFile(join(to, "backup_label"), rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
  await writeFile(join(to, "standby.signal"), "");
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)} application_name=${name}`;
  await appendFile(join(to, "postgresql.auto.conf"), `\nprimary_conninfo = '${conninfo}'\n`);
  await own(to, from);
}

async function copyData(from: string, to: string): Promise<void> {
  // A file that the server removes while we copy is one that the standby does not need.
  await cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    filter: async (source) => {
      if (LEFT_OUT.has(basename(source))) return false;
      if (EMPTIED.some((name) => dirname(source).startsWith(join(from, name)))) return false;
      return await stat(source).then(
        () => true,
        () => false,
      );
    },
  });
  for (const name of EMPTIED) {
    await rm(join(to, name), { recursive: true, force: true });
    await mkdir(join(to, name), { recursive: true });
  }
}

/** PostgreSQL starts only where the data is its own and closed to others. */
async function own(to: string, like: string): Promise<void> {
  const { uid, gid } = await stat(like);
  const give = async (path: string): Promise<void> => {
    if (process.getuid?.() === 0) await chown(path, uid, gid);
  };
  for (const entry of await readdir(to, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() ? 0o700 : 0o600);
    await give(path);
  }
  await chmod(to, 0o700);
  await give(to);
}
