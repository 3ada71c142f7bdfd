import { overviewLines } from "../../render/overview-lines.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";

export interface StatusOptions {
  readonly server?: string;
  readonly json?: true;
}

const RUNNING_SHOWN = 20;

export async function status({ server, json }: StatusOptions, output: Output): Promise<void> {
  const client = await findServer(server);
  const [overview, running] = await Promise.all([
    client.overview(),
    client.listTaskRuns({ status: ["RUNNING"], limit: RUNNING_SHOWN }),
  ]);
  if (json) return output.data(JSON.stringify(overview));
  for (const line of overviewLines(overview, running.taskRuns, output.look)) output.data(line);
}
