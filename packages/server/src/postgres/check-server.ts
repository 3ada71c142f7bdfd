/** Looks at the server behind DATABASE_URL once, before anything is built on it. */
import { Client } from "pg";
import {
  type ConnectProblem,
  type ConnectTarget,
  explainConnectError,
  INVALID_URL,
  readOnly,
  tooOld,
} from "./connect-problem.ts";

export type ServerCheck = { readonly kind: "ok"; readonly version: string } | ConnectProblem;

interface ServerFacts {
  readonly version: string;
  readonly versionNum: number;
  readonly inRecovery: boolean;
}

const TIMEOUT_MS = 5_000;
const OLDEST_MAJOR = 14;

/** Never rejects: what is wrong comes back as a value with its sentence. Waits at most 5 seconds for an answer. */
export async function checkServer(url: string): Promise<ServerCheck> {
  const client = clientFor(url);
  if (client === null) return INVALID_URL;
  client.on("error", () => {});
  const target = targetOf(client);
  try {
    await client.connect();
    const { rows } = await client.query<ServerFacts>(`
      SELECT current_setting('server_version') AS version,
             current_setting('server_version_num')::int AS "versionNum",
             pg_is_in_recovery() AS "inRecovery"`);
    const [facts] = rows;
    return facts === undefined
      ? explainConnectError(new Error("no answer"), target)
      : judgeServer(facts, target);
  } catch (error) {
    return explainConnectError(error, target);
  } finally {
    await client.end().catch(() => {});
  }
}

export function judgeServer(facts: ServerFacts, target: ConnectTarget): ServerCheck {
  const major = Math.floor(facts.versionNum / 10_000);
  if (major < OLDEST_MAJOR) return tooOld(major);
  if (facts.inRecovery) return readOnly(target);
  return { kind: "ok", version: facts.version.split(" ")[0] ?? "" };
}

function clientFor(url: string): Client | null {
  if (!/^postgres(ql)?:\/\//.test(url)) return null;
  try {
    return new Client({
      connectionString: url,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
  } catch {
    return null;
  }
}

function targetOf(client: Client): ConnectTarget {
  return { host: client.host, port: client.port, database: client.database ?? "", user: client.user ?? "" };
}
