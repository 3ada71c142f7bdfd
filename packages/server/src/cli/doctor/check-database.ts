/** Whether a database can carry Signalbox: its version and settings, its clock, and whether LISTEN reaches us. */

import { Client } from "pg";
import { checkServer } from "../../postgres/check-server.ts";
import type { Finding } from "../../render/finding-lines.ts";
import { skewFinding } from "./check-api.ts";

const TIMEOUT_MS = 5_000;
const HEARD_WITHIN_MS = 2_000;
const FEW_CONNECTIONS = 20;

interface Facts {
  readonly now: Date;
  readonly fsync: string;
  readonly connections: number;
}

export async function checkDatabase(url: string): Promise<readonly Finding[]> {
  const server = await checkServer(url);
  if (server.kind !== "ok") return [{ what: "database", state: "fail", text: server.sentence }];
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<Facts>(`
      SELECT clock_timestamp() AS now, current_setting('fsync') AS fsync,
             current_setting('max_connections')::int AS connections`);
    const [facts] = rows;
    const middle = (before + Date.now()) / 2;
    return [
      { what: "database", state: "ok", text: `PostgreSQL ${server.version}` },
      ...(facts === undefined ? [] : settingFindings(facts)),
      ...(facts === undefined
        ? []
        : [{ ...skewFinding(Math.abs(facts.now.getTime() - middle)), what: "its clock" }]),
      await listenFinding(client),
    ];
  } catch (error) {
    return [
      { what: "database", state: "fail", text: error instanceof Error ? error.message : String(error) },
    ];
  } finally {
    await client.end().catch(() => {});
  }
}

export function settingFindings({ fsync, connections }: Omit<Facts, "now">): readonly Finding[] {
  const what = "its settings";
  return [
    ...(fsync === "on"
      ? []
      : [
          {
            what,
            state: "warn",
            text: "fsync is off",
            fix: "A crash of its machine may lose tasks: turn it on",
          } as const,
        ]),
    ...(connections >= FEW_CONNECTIONS
      ? []
      : [
          {
            what,
            state: "warn",
            text: `max_connections is ${connections}`,
            fix: "Raise it: each instance takes several",
          } as const,
        ]),
  ];
}

/** A pooler by transaction takes LISTEN and delivers nothing. */
async function listenFinding(client: Client): Promise<Finding> {
  const channel = `signalbox_doctor_${process.pid}`;
  const heard = new Promise<boolean>((resolve) => {
    client.once("notification", () => resolve(true));
    setTimeout(() => resolve(false), HEARD_WITHIN_MS).unref();
  });
  await client.query(`LISTEN ${channel}`);
  await client.query(`SELECT pg_notify('${channel}', '')`);
  if (await heard) return { what: "LISTEN", state: "ok", text: "delivers" };
  return {
    what: "LISTEN",
    state: "warn",
    text: "delivers nothing, as behind a pooler by transaction",
    fix: "Set DATABASE_DIRECT_URL past the pooler; else work starts only with the next poll",
  };
}
