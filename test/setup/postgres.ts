/**
 * One PostgreSQL for the whole test run, shared by every project that names this file as its global setup.
 *
 * The server outlives a killed parent by design, so every way out of the run must end it: the teardown, a failure
 * half-way, an interrupt, and for a run that was killed the next run.
 */
import { readFileSync, rmSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { clusterIn, placesOf } from "../../packages/server/src/postgres/cluster.ts";
import { removePostgres } from "../../packages/server/src/postgres/remove.ts";
import { startPostgres } from "../../packages/server/src/postgres/start.ts";

interface SharedServer {
  readonly url: string;
  stop(): Promise<void>;
}

interface Sharing {
  server: Promise<SharedServer> | null;
  users: number;
}

// With the host: a container that shares our temporary folder has process ids of its own.
const PREFIX = `signalbox-test-${hostname()}-`;

// On globalThis: each project loads this file anew, and a variable of the module would be one per project.
const shared = globalThis as { signalboxTestPostgres?: Sharing };
shared.signalboxTestPostgres ??= { server: null, users: 0 };
const sharing = shared.signalboxTestPostgres;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  sharing.users += 1;
  sharing.server ??= serverOfThisRun();
  const server = await sharing.server;
  project.provide("adminUrl", server.url);
  return async () => {
    sharing.users -= 1;
    if (sharing.users > 0) return;
    sharing.server = null;
    await server.stop();
  };
}

export async function serverOfThisRun(): Promise<SharedServer> {
  const given = process.env["SIGNALBOX_TEST_DATABASE_URL"];
  if (given) return { url: given, stop: async () => {} };
  await removeKilledRuns();
  return startServer();
}

async function startServer(): Promise<SharedServer> {
  const dir = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // As root the server runs as another user, who must be able to enter.
  await chmod(dir, 0o755);
  const places = await placesIn(dir);
  const onExit = () => removeNow(places);
  // A closed terminal would otherwise end us without an exit; the runner handles the other signals.
  const onHangUp = () => process.exit(129);
  process.once("exit", onExit).once("SIGHUP", onHangUp);
  const remove = async () => {
    await removeServer(dir);
    process.off("exit", onExit).off("SIGHUP", onHangUp);
  };
  try {
    const server = await startPostgres({
      dir,
      durable: false,
      binDir: process.env["PG_BINDIR"],
      settings: { track_commit_timestamp: "on", max_connections: "200" },
    });
    return { url: server.url, stop: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function removeServer(dir: string): Promise<void> {
  await removePostgres(dir);
  await rm(dir, { recursive: true, force: true });
}

async function removeKilledRuns(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX) || isAlive(Number.parseInt(name.slice(PREFIX.length), 10))) continue;
    // Another user's is not ours to remove, and no reason not to test.
    await removeServer(join(tmpdir(), name)).catch(() => {});
  }
}

async function placesIn(dir: string): Promise<readonly string[]> {
  const { home, shared: elsewhere } = await placesOf(dir);
  return elsewhere === null ? [home] : [home, elsewhere];
}

/** Without awaiting, because a process that exits awaits nothing. The data is thrown away, so the server need not save it. */
function removeNow(places: readonly string[]): void {
  for (const place of places) {
    const pid = postmasterPid(place);
    if (pid !== null) {
      signal(pid, "SIGQUIT");
      for (let waits = 0; waits < 200 && postmasterPid(place) !== null; waits += 1) pause(25);
    }
    rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

function postmasterPid(place: string): number | null {
  try {
    return Number.parseInt(readFileSync(clusterIn(place).pidFile, "utf8"), 10) || null;
  } catch {
    return null;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended before we asked.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
