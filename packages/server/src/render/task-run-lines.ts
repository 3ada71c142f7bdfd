/** One task run in full, and the other attempts of its task. */

import type { TaskRun, TaskRunDetail } from "@signalbox/contract";
import { type Fact, factLines } from "./fact-lines.ts";
import { statusText } from "./status-look.ts";
import { alignColumns } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { aboutText, attemptText, resourceText, statusSince } from "./task-run-columns.ts";
import { clockText, lengthText, relativeText, sinceText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";

/** A longer value is for `--json`. */
const SHOWN_CHARACTERS = 2_000;

export function taskRunLines(
  taskRun: TaskRunDetail,
  attempts: readonly TaskRun[],
  moment: Moment,
): readonly string[] {
  const { look } = moment;
  return [
    `${statusText(taskRun.status, look)}  ${look.colors.bold(safeText(taskRun.title))}`,
    ...factLines(
      [...nameFacts(taskRun), ...ruleFacts(taskRun), ...timeFacts(taskRun, moment), ...endFacts(taskRun)],
      look,
    ),
    ...attemptLines(taskRun, attempts, moment),
  ];
}

function nameFacts(taskRun: TaskRunDetail): readonly Fact[] {
  return [
    ["task run", taskRun.taskRunId],
    ["task", taskRun.taskId],
    ["run", taskRun.runId],
    ["kind", safeText(taskRun.kind)],
    ["attempt", attemptText(taskRun)],
    ["about", aboutText(taskRun) || null],
  ];
}

function ruleFacts({
  queue,
  priority,
  tags,
  resources,
  version,
  concurrencyKey,
  rate,
}: TaskRunDetail): readonly Fact[] {
  return [
    ["queue", safeText(queue)],
    ["priority", priority === -1 ? "goes on after a loss" : String(priority)],
    ["tags", listed(tags)],
    ["resources", listed(resources.map(resourceText))],
    ["version", version],
    ["concurrency key", concurrencyKey === null ? null : safeText(concurrencyKey)],
    ["rate", rate === null ? null : safeText(rate)],
  ];
}

function timeFacts(taskRun: TaskRunDetail, { now, look }: Moment): readonly Fact[] {
  const at = (instant: string | null): string | null =>
    instant === null ? null : `${clockText(instant, now, look)}  (${relativeText(instant, now)})`;
  const waited = Object.entries(taskRun.waitedMs).map(([code, ms]) => `${code} ${lengthText(ms)}`);
  return [
    ["run at", at(taskRun.runAt)],
    ["enqueued", at(taskRun.enqueuedAt)],
    ["available", at(taskRun.availableAt)],
    ["claimed", at(taskRun.claimedAt)],
    ["finished", at(taskRun.finishedAt)],
    ["waited at gates", waited.length === 0 ? null : waited.join(", ")],
    ["cancel", cancelText(taskRun, now)],
  ];
}

function cancelText(
  { cancelRequestedAt, cancelRequestedBy, cancelReason }: TaskRunDetail,
  now: string,
): string | null {
  if (cancelRequestedAt === null) return null;
  const by = cancelRequestedBy === null ? "" : ` by ${safeText(cancelRequestedBy)}`;
  const reason = cancelReason === null ? "" : `: ${safeText(cancelReason)}`;
  return `requested ${relativeText(cancelRequestedAt, now)}${by}${reason}`;
}

function endFacts({ outcome, error, input, output }: TaskRunDetail): readonly Fact[] {
  return [
    ["outcome", outcome === null ? null : safeText(outcome)],
    ["error", error === null ? null : safeText(`${error.code}: ${error.message}`)],
    ["input", valueText(input)],
    ["output", valueText(output)],
  ];
}

function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = safeText(JSON.stringify(value));
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}… (whole with --json)`;
}

/** Only where there is more than the one that is shown. */
function attemptLines(
  { taskRunId }: TaskRunDetail,
  attempts: readonly TaskRun[],
  { now, look }: Moment,
): readonly string[] {
  if (attempts.length < 2) return [];
  const rows = attempts.map((attempt) => [
    attempt.taskRunId === taskRunId ? "  >" : "   ",
    `attempt ${attemptText(attempt)}`,
    statusText(attempt.status, look),
    `${sinceText(statusSince(attempt), now)} ago`,
    shortId(attempt.taskRunId),
    aboutText(attempt),
  ]);
  return ["", ...alignColumns(rows)];
}

function listed(names: readonly string[]): string | null {
  return names.length === 0 ? null : safeText(names.join(", "));
}
