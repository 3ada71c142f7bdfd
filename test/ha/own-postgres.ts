/**
 * A PostgreSQL that a test may stop and start again. Not durable against a power cut, but a killed server
 * loses no commit: what it wrote is the operating system's.
 */

import { readFileSync, rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { removePostgres } from "../../packages/server/src/postgres/remove.ts";
import { type RunningPostgres, startPostgres } from "../../packages/server/src/postgres/start.ts";

/** `fast`: sessions are cut off and data is put in order. `immediate`: as if killed, with recovery at the start. */
type StopMode = "fast" | "immediate";

export interface OwnPostgres {
  /** For files of the test: goes with the server. */
  readonly dir: string;
  readonly url: string;
  /** Comes back on the same port. Answers how long nobody could connect. */
  restart(mode: StopMode, whileDown?: () => Promise<void>): Promise<number>;
  remove(): Promise<void>;
}

const SETTINGS = { synchronous_commit: "on", track_commit_timestamp: "on", max_connections: "100" };

export async function startOwnPostgres(): Promise<OwnPostgres> {
  // Named as `test/setup/postgres.ts` names its own: what a killed run leaves behind, the next run removes.
  const dir = await mkdtemp(join(tmpdir(), `signalbox-test-${hostname()}-${process.pid}-ha-`));
  // As root the server runs as another user, who must be able to enter.
  await chmod(dir, 0o755);
  const start = async (port: number): Promise<RunningPostgres> =>
    await startPostgres({
      dir,
      durable: false,
      binDir: process.env["PG_BINDIR"],
      settings: SETTINGS,
      port,
    });
  let dataDir = join(dir, "postgres", "data");
  const onExit = (): void => removeNow(dir, dataDir);
  // A runner that was interrupted leaves its workers running; without it nobody wants our answer.
  const onAlone = (): void => process.exit(1);
  process.once("exit", onExit).once("disconnect", onAlone);
  const remove = async (): Promise<void> => {
    await removePostgres(dir);
    await rm(dir, { recursive: true, force: true });
    process.off("exit", onExit).off("disconnect", onAlone);
  };
  try {
    // Below the ports of outgoing connections: one of those could sit on the port while the server is down.
    let running = await start(20_000 + Math.floor(Math.random() * 10_000));
    dataDir = running.dataDir;
    return {
      dir,
      url: running.url,
      restart: async (mode, whileDown) => {
        const { port } = running;
        const downFrom = performance.now();
        if (mode === "immediate") quitAtOnce(postmasterPid(dataDir));
        await running.stop();
        try {
          await whileDown?.();
        } finally {
          // Also after a failure: the next trial needs it.
          running = await start(port);
        }
        if (running.port !== port || !running.owned)
          throw new Error(`PostgreSQL did not get port ${port} back`);
        return performance.now() - downFrom;
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function postmasterPid(dataDir: string): number | null {
  try {
    return Number.parseInt(readFileSync(join(dataDir, "postmaster.pid"), "utf8"), 10) || null;
  } catch {
    return null;
  }
}

/** Never with process id 0, which is everybody in our own group. */
function quitAtOnce(pid: number | null): void {
  if (pid === null) throw new Error("PostgreSQL was to be ended at once, and does not run");
  process.kill(pid, "SIGQUIT");
}

/** Without awaiting, because a process that exits awaits nothing. */
function removeNow(dir: string, dataDir: string): void {
  const pid = postmasterPid(dataDir);
  if (pid !== null) {
    try {
      process.kill(pid, "SIGQUIT");
    } catch {
      // It ended before we asked.
    }
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    for (let waits = 0; waits < 200 && postmasterPid(dataDir) !== null; waits += 1) {
      Atomics.wait(nobody, 0, 0, 25);
    }
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
