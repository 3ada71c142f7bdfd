/** The database of `dev`: the one it was given, else a private PostgreSQL that it starts, or finds running. */

import { relative } from "node:path";
import { checkServer } from "../postgres/check-server.ts";
import { type RunningPostgres, startPostgres } from "../postgres/start.ts";
import { stopPostgres } from "../postgres/stop.ts";
import { DatabaseProblemError } from "./database-problem.ts";

export interface DevDatabase {
  readonly url: string;
  /** For people, without a password. */
  readonly description: string;
  /** Stops it where it is private. The caller knows that nobody else uses it. */
  stop(): Promise<void>;
}

export interface DatabaseChoice {
  readonly databaseUrl: string | null;
  readonly pgBinDir: string | null;
  /** The project's `.signalbox`. */
  readonly dir: string;
}

export async function openDatabase({ databaseUrl, pgBinDir, dir }: DatabaseChoice): Promise<DevDatabase> {
  if (databaseUrl !== null) return givenDatabase(databaseUrl);
  const postgres = await startPostgres({ dir, binDir: pgBinDir ?? undefined });
  return {
    url: postgres.url,
    description: describePrivate(postgres),
    stop: () => (postgres.owned ? postgres.stop() : stopPostgres(postgres.dataDir)),
  };
}

async function givenDatabase(url: string): Promise<DevDatabase> {
  const check = await checkServer(url);
  if (check.kind !== "ok") throw new DatabaseProblemError(check.sentence);
  return { url, description: `PostgreSQL ${check.version} at ${placeOf(url)}`, stop: async () => {} };
}

function describePrivate({ version, dataDir, source, owned }: RunningPostgres): string {
  const below = relative(process.cwd(), dataDir);
  const place = below.startsWith("..") ? dataDir : below;
  return `private PostgreSQL ${version} in ${place}  (${source}${owned ? "" : ", was running already"})`;
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
