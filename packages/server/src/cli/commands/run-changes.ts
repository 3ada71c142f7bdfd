/** What is done to a whole run. */

import type { CancelCounts } from "@signalbox/contract";
import { quoted } from "../../render/task-name.ts";
import { confirm } from "../confirm.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions } from "../shared-options.ts";
import { whoAsks } from "../who-asks.ts";

export type RunChangeOptions = AskOptions & ChangeOptions;

export async function cancelRun(
  id: string,
  options: RunChangeOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  const runId = await findRunId(client, id);
  const { title, openTasks } = await client.getRun(runId);
  if (options.dryRun === true) {
    output.data(`Would cancel the ${openTasks} open tasks of ${quoted(title)}.`);
    return undefined;
  }
  const text = `Cancel the ${openTasks} open tasks of ${quoted(title)}?`;
  if (!(await confirm({ text, grave: false }, options))) return nothingDone(output);
  const counts = await client.cancelRun(runId, whoAsks(options));
  printOne(counts, { name: runId, lines: () => [countsText(counts)] }, { options, output });
  return undefined;
}

export async function retryRun(
  id: string,
  options: RunChangeOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  const runId = await findRunId(client, id);
  const { title, failedTasks } = await client.getRun(runId);
  if (options.dryRun === true) {
    output.data(`Would try the ${failedTasks} failed tasks of ${quoted(title)} again.`);
    return undefined;
  }
  const counts = await client.retryMany({ filter: { runId }, by: whoAsks().by });
  const line = `${counts.retried} failed tasks are tried again.`;
  printOne(counts, { name: runId, lines: () => [line] }, { options, output });
  return undefined;
}

function nothingDone(output: Output): ExitCode {
  output.note("Nothing was done.");
  return EXIT.refused;
}

function countsText({ canceled, canceling, ended }: CancelCounts): string {
  return `${canceled} canceled, ${canceling} canceling, ${ended} had ended already.`;
}
