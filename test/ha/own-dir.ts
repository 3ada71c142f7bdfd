/** A folder for servers of a test. It goes with the test, and with a test process that ends in any other way. */

import { readFileSync, rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

export interface OwnDir {
  readonly dir: string;
  /** The server of this data folder is ended before the folder goes. */
  holds(dataDir: string): void;
  /** Of servers that have been ended. */
  remove(): Promise<void>;
}

export async function makeOwnDir(): Promise<OwnDir> {
  // Named as `test/setup/postgres.ts` names its own: what a killed run leaves behind, the next run removes.
  const dir = await mkdtemp(join(tmpdir(), `signalbox-test-${hostname()}-${process.pid}-ha-`));
  // As root the server runs as another user, who must be able to enter.
  await chmod(dir, 0o755);
  const dataDirs: string[] = [];
  const onExit = (): void => removeNow(dir, dataDirs);
  // A runner that was interrupted leaves its workers running; without it nobody wants our answer.
  const onAlone = (): void => process.exit(1);
  process.once("exit", onExit).once("disconnect", onAlone);
  return {
    dir,
    holds: (dataDir) => void dataDirs.push(dataDir),
    remove: async () => {
      await rm(dir, { recursive: true, force: true });
      process.off("exit", onExit).off("disconnect", onAlone);
    },
  };
}

function postmasterPid(dataDir: string): number | null {
  try {
    return Number.parseInt(readFileSync(join(dataDir, "postmaster.pid"), "utf8"), 10) || null;
  } catch {
    return null;
  }
}

/** Ends a server as if it were killed. `false`: there is none. Never with process id 0, which is everybody in our own group. */
export function quitAtOnce(dataDir: string): boolean {
  const pid = postmasterPid(dataDir);
  if (pid === null) return false;
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It ended before we asked.
  }
  return true;
}

/** Without awaiting, because a process that exits awaits nothing. */
function removeNow(dir: string, dataDirs: readonly string[]): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (const dataDir of dataDirs) {
    quitAtOnce(dataDir);
    for (let waits = 0; waits < 200 && postmasterPid(dataDir) !== null; waits += 1) {
      Atomics.wait(nobody, 0, 0, 25);
    }
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
