import { userInfo } from "node:os";
import type { CancelAnswer, CancelCounts, Client, TaskRunDetail } from "@signalbox/contract";
import { statusWord } from "../../render/status-look.ts";
import { quoted } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";

export interface CancelOptions {
  readonly server?: string;
  readonly json?: true;
  readonly reason?: string;
  readonly run?: string;
}

export async function cancel(
  id: string | undefined,
  options: CancelOptions,
  output: Output,
): Promise<ExitCode> {
  if ((id === undefined) === (options.run === undefined))
    throw new UsageError("Give the id of a task or task run, or --run with the id of a run");
  const client = await findServer(options.server);
  const request = {
    by: userInfo().username,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  };
  if (id === undefined) {
    const counts = await client.cancelRun(options.run ?? "", request);
    output.data(options.json ? JSON.stringify(counts) : countsText(counts));
    return EXIT.ok;
  }
  const before = await client.getTaskRun(id);
  const { answer } = await client.cancel(before.taskRunId, request);
  const after = answer === "ended" ? await client.getTaskRun(before.taskRunId) : before;
  if (options.json) output.data(JSON.stringify({ taskRunId: before.taskRunId, answer }));
  else output.data(`${answerText(answer, after)}  ${before.taskRunId}`);
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

function countsText({ canceled, canceling, ended }: CancelCounts): string {
  return `${canceled} canceled, ${canceling} canceling, ${ended} had ended already.`;
}
