import { userInfo } from "node:os";
import { UsageError } from "../../usage-error.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";

export interface RetryOptions {
  readonly server?: string;
  readonly json?: true;
  readonly run?: string;
}

export async function retry(id: string | undefined, options: RetryOptions, output: Output): Promise<void> {
  if ((id === undefined) === (options.run === undefined))
    throw new UsageError("Give the id of a task or task run, or --run with the id of a run");
  const client = await findServer(options.server);
  const by = userInfo().username;
  if (id === undefined) {
    const counts = await client.retryMany({ filter: { runId: options.run ?? "" }, by });
    return output.data(
      options.json ? JSON.stringify(counts) : `${counts.retried} failed tasks are tried again.`,
    );
  }
  const retried = await client.retry(id, { by });
  output.data(
    options.json ? JSON.stringify(retried) : `Attempt ${retried.attempt} is pending.  ${retried.taskRunId}`,
  );
}
