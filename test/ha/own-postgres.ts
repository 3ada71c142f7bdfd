/**
 * A PostgreSQL that a test may stop and start again. Not durable against a power cut, but a killed server
 * loses no commit: what it wrote is the operating system's.
 */

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removePostgres } from "../../packages/server/src/postgres/remove.ts";
import { type RunningPostgres, startPostgres } from "../../packages/server/src/postgres/start.ts";
import { makeOwnDir, quitAtOnce } from "./own-dir.ts";
import { complaintsIn } from "./server-complaints.ts";

/** `fast`: sessions are cut off and data is put in order. `immediate`: as if killed, with recovery at the start. */
type StopMode = "fast" | "immediate";

export interface OwnPostgres {
  /** For files of the test: goes with the server. */
  readonly dir: string;
  readonly url: string;
  /** Comes back on the same port. Answers how long nobody could connect. */
  restart(mode: StopMode, whileDown?: () => Promise<void>): Promise<number>;
  /** Of statements that took long or were ended. */
  complaints(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

export const OWN_SETTINGS: Readonly<Record<string, string>> = {
  synchronous_commit: "on",
  track_commit_timestamp: "on",
  max_connections: "100",
  // Where a trial finds a statement that was given up, they tell what it waited for.
  log_lock_waits: "on",
  log_min_duration_statement: "2000",
  log_line_prefix: "%m [%p] %a ",
};

export async function startOwnPostgres(
  settings: Readonly<Record<string, string>> = {},
  /** For its data. Default: within its own folder. */
  dataPlace?: string,
): Promise<OwnPostgres> {
  const place = await makeOwnDir();
  const { dir } = place;
  const start = async (port: number): Promise<RunningPostgres> =>
    await startPostgres({
      dir: dataPlace ?? dir,
      durable: false,
      binDir: process.env["PG_BINDIR"],
      settings: { ...OWN_SETTINGS, ...settings },
      port,
    });
  const remove = async (): Promise<void> => {
    await removePostgres(dataPlace ?? dir);
    await place.remove();
  };
  try {
    // Below the ports of outgoing connections: one of those could sit on the port while the server is down.
    let running = await start(20_000 + Math.floor(Math.random() * 10_000));
    const { dataDir } = running;
    place.holds(dataDir);
    return {
      dir,
      url: running.url,
      restart: async (mode, whileDown) => {
        const { port } = running;
        const downFrom = performance.now();
        if (mode === "immediate" && !quitAtOnce(dataDir)) {
          throw new Error("PostgreSQL was to be ended at once, and does not run");
        }
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
      complaints: async () => await complaintsOf(dataDir),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

export async function complaintsOf(dataDir: string): Promise<readonly string[]> {
  return complaintsIn(await readFile(join(dirname(dataDir), "server.log"), "utf8"));
}
