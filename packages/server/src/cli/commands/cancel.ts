import type { CancelAnswer, Client, TaskRunDetail } from "@signalbox/contract";
import { statusWord } from "../../render/status-look.ts";
import { quoted } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions } from "../shared-options.ts";
import { whoAsks } from "../who-asks.ts";
import { type BulkOptions, doMany, isBulk, WHICH } from "./bulk.ts";
import { cancelRun } from "./run-changes.ts";

export type CancelOptions = AskOptions & ChangeOptions & BulkOptions;

export async function cancel(
  id: string | undefined,
  options: CancelOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  if (id === undefined && isBulk(options)) return await doMany("cancel", options, output);
  if ((id === undefined) === (options.run === undefined) || isBulk(options)) throw new UsageError(WHICH);
  return id === undefined
    ? await cancelRun(options.run ?? "", options, output)
    : await cancelOne(taskRunIdOf(id), options, output);
}

async function cancelOne(id: string, options: CancelOptions, output: Output): Promise<ExitCode> {
  const client = await findServer(options);
  const before = await client.getTaskRun(id);
  const { taskRunId } = before;
  if (options.dryRun === true) {
    output.data(`Would cancel ${quoted(before.title)}, which is ${statusWord(before.status)}.  ${taskRunId}`);
    return EXIT.ok;
  }
  const { answer } = await client.cancel(taskRunId, whoAsks(options));
  const after = answer === "ended" ? await client.getTaskRun(taskRunId) : before;
  const lines = (): readonly string[] => [`${answerText(answer, after)}  ${taskRunId}`];
  printOne({ taskRunId, answer }, { name: taskRunId, lines }, { options, output });
  if (answer !== "ended" || after.status === "CANCELED") return EXIT.ok;
  await nameNextAttempt(client, after, output);
  return EXIT.refused;
}

/** Whoever gives the id of an old attempt usually means the task. */
async function nameNextAttempt(
  client: Client,
  { taskId, attempt }: TaskRunDetail,
  output: Output,
): Promise<void> {
  const newest = await client.getTaskRun(taskId);
  if (newest.attempt === attempt || newest.finishedAt !== null) return;
  output.note(`Its task goes on with attempt ${newest.attempt}. To cancel that: signalbox cancel ${taskId}`);
}

function answerText(answer: CancelAnswer["answer"], { title, status, instanceName }: TaskRunDetail): string {
  switch (answer) {
    case "canceled":
      return `${quoted(title)} is canceled; it had not started.`;
    case "canceling":
      return `${quoted(title)} is canceling; ${instanceName ?? "the instance that runs it"} has been told.`;
    case "ended":
      return `${quoted(title)} had ended already (${statusWord(status)}); nothing changed.`;
  }
}
