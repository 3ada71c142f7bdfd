import { dirname } from "node:path";
import { type Cluster, clusterAt } from "./cluster.ts";
import { systemCode } from "./file-error.ts";
import { launchError } from "./launch-error.ts";
import { findHolder } from "./postmaster.ts";
import { shutDown } from "./shut-down.ts";

/** Ends the server on this data, whoever started it. Does nothing where none runs. */
export async function stopPostgres(dataDir: string): Promise<void> {
  await stopServerOf(clusterAt(dirname(dataDir)));
}

export async function stopServerOf(cluster: Cluster): Promise<void> {
  const holder = await findHolder(cluster);
  if (holder.kind !== "live") return;
  const { pid } = holder.postmaster;
  const ended = await shutDown({
    signal: (name) => sendSignal(pid, name),
    hasEnded: async () => {
      const now = await findHolder(cluster);
      return now.kind !== "live" || now.postmaster.pid !== pid;
    },
  });
  if (!ended) throw launchError("STOP_FAILED", { dataDir: cluster.dataDir, pid });
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended between our look and our signal.
    if (systemCode(error) !== "ESRCH") throw error;
  }
}
