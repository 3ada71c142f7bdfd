/** Finds a server that already runs on a cluster's data. The proof is an answer to the stored password, not a process id. */
import { Client } from "pg";
import { type Cluster, readPassword } from "./cluster.ts";
import { systemCode } from "./file-error.ts";
import { launchError } from "./launch-error.ts";
import { findHolder, type Postmaster } from "./postmaster.ts";

export type Adoption =
  | { readonly kind: "running"; readonly pid: number; readonly port: number; readonly version: string }
  /** A server has the data but does not answer yet, or is about to end: look again. */
  | { readonly kind: "not_ready"; readonly pid: number }
  /** The file of a server that is no more. */
  | { readonly kind: "stale"; readonly pidFileText: string }
  | { readonly kind: "absent" };

const PROBE_TIMEOUT_MS = 2_000;
const WRONG_PASSWORD = "28P01";

export async function adopt(cluster: Cluster): Promise<Adoption> {
  const holder = await findHolder(cluster);
  if (holder.kind === "none") return { kind: "absent" };
  if (holder.kind === "stale") return { kind: "stale", pidFileText: holder.pidFileText };
  return probe(cluster, holder.postmaster);
}

export function urlOf(cluster: {
  readonly port: number;
  readonly password: string;
  readonly database: string;
}): string {
  return `postgres://postgres:${encodeURIComponent(cluster.password)}@127.0.0.1:${cluster.port}/${cluster.database}`;
}

async function probe(cluster: Cluster, { pid, port, accepts }: Postmaster): Promise<Adoption> {
  if (port === null || !accepts) return { kind: "not_ready", pid };
  const client = new Client({
    connectionString: urlOf({ port, password: await readPassword(cluster), database: "postgres" }),
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  // A connection that breaks between two statements reports here; the statement after it fails anyway.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>(
      `SELECT current_setting('server_version') AS version`,
    );
    return { kind: "running", pid, port, version: rows[0]?.version.split(" ")[0] ?? "" };
  } catch (cause) {
    if (systemCode(cause) === WRONG_PASSWORD) {
      throw launchError("PASSWORD_REFUSED", { dataDir: cluster.dataDir }, { cause });
    }
    return { kind: "not_ready", pid };
  } finally {
    await client.end().catch(() => {});
  }
}
