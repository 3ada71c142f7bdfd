/**
 * Runs a private PostgreSQL for one folder: finds binaries, creates the data once, adopts a server that already runs.
 *
 * Takes no lock of its own. Renames decide who creates the data, `postmaster.pid` decides whose server runs, and every
 * loser adopts the winner's.
 */
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Adoption, adopt, urlOf } from "./adopt.ts";
import { choosePort } from "./choose-port.ts";
import {
  type Cluster,
  clusterExists,
  readDataMajor,
  readLastStart,
  readPassword,
  SHARED_PLACE,
  settleCluster,
  writeLastStart,
} from "./cluster.ts";
import { createDatabase } from "./create-database.ts";
import type { BinariesSource } from "./find-binaries.ts";
import { initialise } from "./initialise.ts";
import { explainNotPermitted, launchError, type PostgresLaunchError } from "./launch-error.ts";
import { endServer, type Launched, launchServer } from "./launch-server.ts";
import { disarm } from "./postmaster.ts";
import { type Binaries, prepareBinaries } from "./prepare-binaries.ts";
import { lastOf } from "./server-log.ts";
import type { ServerUser } from "./server-user.ts";
import type { ExitCause } from "./why-exited.ts";

export interface PostgresOptions {
  /** Usually `.signalbox` of the project. Made if missing. */
  readonly dir: string;
  /** `false` for tests: faster, but a killed server loses its last commits, a power cut all data. Default: true. */
  readonly durable?: boolean | undefined;
  /** PG_BINDIR. Default: the npm package, else the system's PostgreSQL. */
  readonly binDir?: string | undefined;
  /** Server settings by name. They win over ours. A server that is adopted keeps those it was started with. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** First choice; another is taken where it is busy. Default: the port of the last start. */
  readonly port?: number | undefined;
}

export interface RunningPostgres {
  /** Of the database `signalbox`, as superuser, with the password. */
  readonly url: string;
  /** Not always below `dir`: root in a private folder gets one below /var/lib/signalbox. */
  readonly dataDir: string;
  readonly port: number;
  /** "18.4" */
  readonly version: string;
  readonly source: BinariesSource;
  /** `false` for a server that somebody else started: it is theirs to stop. */
  readonly owned: boolean;
  /** Cuts sessions off and waits until no process is left. Does nothing where not `owned`. Safe to repeat. */
  stop(): Promise<void>;
}

type Served = Extract<Adoption, { kind: "running" }> | Extract<Launched, { kind: "ready" }>;

interface Startable {
  readonly cluster: Cluster;
  readonly user: ServerUser;
  readonly binaries: Binaries;
  readonly options: PostgresOptions;
}

const DATABASE = "signalbox";
const START_DEADLINE_MS = 60_000;
const LOOK_AGAIN_MS = 50;
const AGAIN_AFTER_MS = {
  other_server: LOOK_AGAIN_MS,
  still_ending: 500,
  port_taken: 0,
} as const satisfies Record<Exclude<ExitCause, "unknown">, number>;

/** Resolves once the server answers. Rejects with a `PostgresLaunchError`, and then leaves no process behind. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  try {
    const { cluster, user } = await settleCluster(options.dir);
    const served = await serve(cluster, user, options);
    if (await hasDatabase(cluster, served)) return await describe(cluster, served);
    // Its owner ended it just after we had found it: now it is ours to start.
    const next = await serve(cluster, user, options);
    if (await hasDatabase(cluster, next)) return await describe(cluster, next);
    throw startFailed(cluster, ["a server of another process ended twice while we adopted it"]);
  } catch (error) {
    throw explainNotPermitted(error, options.dir);
  }
}

async function serve(cluster: Cluster, user: ServerUser, options: PostgresOptions): Promise<Served> {
  const there = (await clusterExists(cluster)) ? await adopt(cluster) : null;
  // Before any look at binaries: what runs needs none.
  if (there?.kind === "running") return there;

  // Root shares one copy among its projects; a plain user has no place but its own.
  const copyPlace = user.lent ? SHARED_PLACE : dirname(cluster.folder);
  const binaries = await prepareBinaries({ user, copyPlace, binDir: options.binDir });
  if (there === null) {
    await initialise({ cluster, user, binDir: binaries.binDir, durable: options.durable ?? true });
  }
  await assertSameMajor(cluster, binaries);
  return adoptOrLaunch({ cluster, user, binaries, options });
}

async function adoptOrLaunch(startable: Startable): Promise<Served> {
  const { cluster, options } = startable;
  const deadline = performance.now() + START_DEADLINE_MS;
  let preferred = [options.port, (await readLastStart(cluster))?.port].filter((port) => port !== undefined);
  let lines: readonly string[] = [];
  while (performance.now() < deadline) {
    const found = await adopt(cluster);
    if (found.kind === "running") return found;
    if (found.kind === "not_ready") {
      lines = [`process ${found.pid} has the data and does not answer`];
      await delay(LOOK_AGAIN_MS);
      continue;
    }
    if (found.kind === "stale") await disarm(cluster, found.pidFileText);
    const launched = await launch(startable, await choosePort(preferred));
    if (launched.kind === "ready") return launched;
    lines = launched.lines;
    if (launched.kind === "too_slow" || launched.cause === "unknown") break;
    if (launched.cause === "port_taken") preferred = [];
    await delay(AGAIN_AFTER_MS[launched.cause]);
  }
  throw startFailed(cluster, lines);
}

async function launch({ cluster, user, binaries, options }: Startable, port: number): Promise<Launched> {
  await writeLastStart(cluster, { port, source: binaries.source });
  const settings = { durable: options.durable ?? true, port, extra: options.settings ?? {} };
  return launchServer({ cluster, user, binDir: binaries.binDir, settings });
}

/** `false` where an adopted server went away meanwhile. */
async function hasDatabase(cluster: Cluster, served: Served): Promise<boolean> {
  const password = await readPassword(cluster);
  try {
    await createDatabase(urlOf({ port: served.port, password, database: "postgres" }), DATABASE);
    return true;
  } catch (cause) {
    if (served.kind === "running") return false;
    await endServer(served.server);
    throw startFailed(cluster, [cause instanceof Error ? cause.message : String(cause)], { cause });
  }
}

async function describe(cluster: Cluster, served: Served): Promise<RunningPostgres> {
  const { port, version } = served;
  const lastStart = await readLastStart(cluster);
  return {
    url: urlOf({ port, password: await readPassword(cluster), database: DATABASE }),
    dataDir: cluster.dataDir,
    port,
    version,
    source: lastStart?.source ?? "system",
    owned: served.kind === "ready",
    stop: async () => {
      if (served.kind !== "ready" || (await endServer(served.server))) return;
      throw launchError("STOP_FAILED", { dataDir: cluster.dataDir, pid: served.server.pid ?? 0 });
    },
  };
}

function startFailed(
  cluster: Cluster,
  lines: readonly string[],
  options?: ErrorOptions,
): PostgresLaunchError {
  const { dataDir, logFile } = cluster;
  return launchError("START_FAILED", { dataDir, logFile, lines: lastOf(lines) }, options);
}

async function assertSameMajor(cluster: Cluster, { major, source }: Binaries): Promise<void> {
  const dataMajor = await readDataMajor(cluster);
  if (dataMajor === major) return;
  throw launchError("WRONG_MAJOR_VERSION", {
    dataDir: cluster.dataDir,
    dataMajor,
    binariesMajor: major,
    source,
  });
}
