import type { Client } from "@signalbox/contract";
import { statusText } from "../../render/status-look.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { type EnqueueArguments, taskSpecOf } from "../enqueue-arguments.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { isTable, printOne } from "../print.ts";
import type { AskOptions, WatchOptions } from "../shared-options.ts";
import { watchTask } from "../watch-task.ts";

export interface EnqueueOptions extends EnqueueArguments, AskOptions, WatchOptions {
  readonly idempotencyKey?: string;
  readonly dryRun?: true;
}

export async function enqueue(
  kind: string,
  options: EnqueueOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const spec = taskSpecOf(kind, options, new Date());
  if (options.dryRun === true) {
    output.data(JSON.stringify(spec));
    return undefined;
  }
  const client = await findServer(options);
  const { idempotencyKey } = options;
  const created = await client.createTask(spec, idempotencyKey === undefined ? {} : { idempotencyKey });
  if (options.watch === true) return await watchTask(client, created.taskId, { options, output });
  const { status, taskRunId } = created;
  const line = `${statusText(status, output.look)}  ${taskRunId}  ${safeText(spec.title ?? spec.kind)}`;
  printOne(created, { name: taskRunId, lines: () => [line] }, { options, output });
  if (isTable(options)) await warnIfNobodyRuns(client, kind, output);
  return undefined;
}

/** It stays in the line until somebody can run it; better to hear so now. */
async function warnIfNobodyRuns(client: Client, kind: string, output: Output): Promise<void> {
  const { instances } = await client.overview();
  const kinds = new Set(
    instances.filter(({ state }) => state === "LIVE").flatMap((instance) => instance.kinds),
  );
  if (kinds.has(kind)) return;
  const offered = kinds.size === 0 ? "nothing" : [...kinds].toSorted().join(", ");
  output.note(`No live instance can run ${quoted(kind)} (offered: ${offered}).`);
}
