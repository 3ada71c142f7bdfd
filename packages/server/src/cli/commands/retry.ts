import { UsageError } from "../../usage-error.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions, WatchOptions } from "../shared-options.ts";
import { watchTask } from "../watch-task.ts";
import { whoAsks } from "../who-asks.ts";
import { type BulkOptions, doMany, isBulk, WHICH } from "./bulk.ts";
import { retryRun } from "./run-changes.ts";

export type RetryOptions = AskOptions & ChangeOptions & WatchOptions & BulkOptions;

export async function retry(
  id: string | undefined,
  options: RetryOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  if (id === undefined && isBulk(options)) return await doMany("retry", options, output);
  if ((id === undefined) === (options.run === undefined) || isBulk(options)) throw new UsageError(WHICH);
  if (options.reason !== undefined) throw new UsageError("--reason is for a filter, such as --status failed");
  if (id === undefined) return await retryRun(options.run ?? "", options, output);
  const given = taskRunIdOf(id);
  const client = await findServer(options);
  if (options.dryRun === true) {
    const { taskRunId, status, attempt } = await client.getTaskRun(given);
    output.data(`Would try ${taskRunId} again, which is ${status} in attempt ${attempt}.`);
    return undefined;
  }
  const retried = await client.retry(given, { by: whoAsks().by });
  if (options.watch === true) return await watchTask(client, retried.taskId, { options, output });
  const line = `Attempt ${retried.attempt} is pending.  ${retried.taskRunId}`;
  printOne(retried, { name: retried.taskRunId, lines: () => [line] }, { options, output });
  return undefined;
}
