/** `stop list`, `put` and `take-off`: what keeps one task from starting. */

import type { RulesInForce } from "@signalbox/contract";
import type { Column } from "../../render/table.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { sinceText } from "../../render/time.ts";
import { findServer } from "../find-server.ts";
import { taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { isTable, printList, printOne } from "../print.ts";
import type { AskOptions, ListOptions } from "../shared-options.ts";

export interface StopOptions extends AskOptions {
  readonly detail?: string;
  readonly dryRun?: true;
}

interface Stopped {
  readonly id: string;
  readonly code: string;
}

export async function stopList(options: AskOptions & ListOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const { stops, cut, computedAt } = await client.readRules({ limit: options.limit ?? 1_000 });
  const columns: readonly Column<RulesInForce["stops"][number]>[] = [
    { name: "task", text: ({ taskId }) => taskId },
    { name: "code", text: ({ code }) => safeText(code) },
    { name: "detail", text: ({ detail }) => safeText(detail ?? "") },
    { name: "for", text: ({ since }) => sinceText(since, computedAt) },
  ];
  printList(
    { rows: stops, columns, nameOf: ({ taskId }) => taskId, empty: "No task is stopped." },
    options,
    output,
  );
  if (cut.includes("stops") && isTable(options)) output.note("There are more (--limit).");
}

export async function stopPut({ id, code }: Stopped, options: StopOptions, output: Output): Promise<void> {
  const given = taskRunIdOf(id);
  const client = await findServer(options);
  const { taskId, title } = await client.getTaskRun(given);
  if (options.dryRun === true) return output.data(`Would stop ${quoted(title)} with ${code}.`);
  await client.putStop(taskId, code, options.detail);
  const line = `${quoted(title)} does not start until ${safeText(code)} is taken off.  ${taskId}`;
  printOne({ taskId, code }, { name: taskId, lines: () => [line] }, { options, output });
}

export async function stopTakeOff(
  { id, code }: Stopped,
  options: StopOptions,
  output: Output,
): Promise<void> {
  const given = taskRunIdOf(id);
  const client = await findServer(options);
  const { taskId, title } = await client.getTaskRun(given);
  if (options.dryRun === true) return output.data(`Would take ${code} off ${quoted(title)}.`);
  const { changed } = await client.takeOffStop(taskId, code);
  const line = changed
    ? `${safeText(code)} is off ${quoted(title)}.  ${taskId}`
    : `${quoted(title)} had no stop ${safeText(code)}.  ${taskId}`;
  printOne({ taskId, code, changed }, { name: taskId, lines: () => [line] }, { options, output });
}
