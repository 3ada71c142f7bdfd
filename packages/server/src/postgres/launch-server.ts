/** Starts one server process on a cluster that has none, and follows it until it answers or ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { adopt } from "./adopt.ts";
import type { Cluster } from "./cluster.ts";
import { program } from "./find-binaries.ts";
import { asLaunchError } from "./run-as.ts";
import { linesSince, openLog } from "./server-log.ts";
import { type ServerSettings, serverArgs } from "./server-settings.ts";
import { type ServerUser, spawnIdentity } from "./server-user.ts";
import { shutDown } from "./shut-down.ts";
import { type ExitCause, whyExited } from "./why-exited.ts";

export interface Launch {
  readonly cluster: Cluster;
  readonly binDir: string;
  readonly user: ServerUser;
  readonly settings: ServerSettings;
}

export type Launched =
  | { readonly kind: "ready"; readonly server: ChildProcess; readonly port: number; readonly version: string }
  | { readonly kind: "exited"; readonly cause: ExitCause; readonly lines: readonly string[] }
  | { readonly kind: "too_slow"; readonly lines: readonly string[] };

// Long: a server that makes good what a crash left undone must not be ended for it.
const READY_DEADLINE_MS = 300_000;
const LOOK_AGAIN_MS = 25;

/** Leaves no process behind unless it resolves to `ready`. */
export async function launchServer(launch: Launch): Promise<Launched> {
  const log = await openLog(launch.cluster.logFile);
  try {
    const server = await spawnServer(launch, log.file.fd);
    return await follow(launch, server, log.from).catch(async (error: unknown) => {
      await endServer(server);
      throw error;
    });
  } finally {
    await log.file.close();
  }
}

/** Ends a server that this process launched. Safe to repeat. */
export async function endServer(server: ChildProcess): Promise<boolean> {
  return shutDown({ signal: (name) => server.kill(name), hasEnded: () => hasEnded(server) });
}

async function spawnServer(
  { cluster, binDir, user, settings }: Launch,
  logFd: number,
): Promise<ChildProcess> {
  try {
    const server = spawn(
      program(binDir, "postgres"),
      serverArgs(cluster.dataDir, settings, process.platform),
      {
        ...spawnIdentity(user),
        cwd: "/",
        // A session of its own: the terminal's Ctrl-C must not end it before the application has drained.
        detached: true,
        stdio: ["ignore", logFd, logFd],
      },
    );
    await once(server, "spawn");
    server.unref();
    return server;
  } catch (cause) {
    throw asLaunchError(cause, user);
  }
}

async function follow({ cluster }: Launch, server: ChildProcess, logFrom: number): Promise<Launched> {
  const pid = server.pid ?? 0;
  const deadline = performance.now() + READY_DEADLINE_MS;
  while (performance.now() < deadline) {
    if (hasEnded(server)) {
      const lines = await linesSince(cluster.logFile, logFrom);
      return { kind: "exited", cause: whyExited(lines, pid), lines };
    }
    const found = await adopt(cluster);
    // Another process's server may answer first; then ours is about to end.
    if (found.kind === "running" && found.pid === pid) {
      return { kind: "ready", server, port: found.port, version: found.version };
    }
    await delay(LOOK_AGAIN_MS);
  }
  await endServer(server);
  return { kind: "too_slow", lines: await linesSince(cluster.logFile, logFrom) };
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}
