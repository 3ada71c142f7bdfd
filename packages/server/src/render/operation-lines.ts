/** Operations: a list of them, one with what it could not do, and what one would do. */

import type { Operation, OperationFilter, OperationItem, OperationPreview } from "@signalbox/contract";
import type { SkipReason } from "@signalbox/core/domain";
import { type Fact, factLines } from "./fact-lines.ts";
import type { Look } from "./look.ts";
import { progressBar } from "./progress-bar.ts";
import { statusText, statusWord } from "./status-look.ts";
import { alignColumns, type Column } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { clockText, sinceText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";

const BAR_WIDTH = 28;

const OPERATION_LOOK = {
  RUNNING: (look) => statusText("RUNNING", look),
  DONE: (look) => statusText("DONE", look),
  ABORTED: (look) => look.colors.gray(`${look.unicode ? "⊘" : "/"} aborted`),
} as const satisfies Record<Operation["status"], (look: Look) => string>;

const WHY = {
  ENDED: "had ended already",
  CANCELING: "had been asked to stop before",
  OPEN: "had not ended",
  DONE: "had succeeded",
  LATER_ATTEMPT: "were followed by another attempt",
  CHANGED: "were no longer as the filter wants them",
  NOT_FOUND: "are not there",
} as const satisfies Record<SkipReason, string>;

export function operationColumns({ now, look }: Moment): readonly Column<Operation>[] {
  return [
    { name: "status", text: ({ status }) => OPERATION_LOOK[status](look) },
    { name: "id", text: ({ operationId }) => shortId(operationId) },
    { name: "verb", text: ({ verb }) => verb },
    { name: "done", text: ({ done }) => String(done) },
    { name: "skipped", text: (operation) => String(skippedOf(operation)) },
    { name: "failed", text: ({ failed }) => String(failed) },
    { name: "age", text: ({ createdAt }) => sinceText(createdAt, now) },
    { name: "by", text: ({ by }) => safeText(by ?? "") },
    { name: "filter", text: ({ filter }) => filterText(filter) },
    { name: "reason", wide: true, text: ({ reason }) => safeText(reason ?? "") },
    { name: "created", wide: true, text: ({ createdAt }) => clockText(createdAt, now, look) },
  ];
}

/** "37 of 41 done, 3 skipped, 1 failed" */
export function operationProgress(operation: Operation): string {
  const { done, failed, expected } = operation;
  const skipped = skippedOf(operation);
  return [
    `${done} of ${countText(expected.eligible)} done`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(", ");
}

export function operationLines(
  operation: Operation,
  items: readonly OperationItem[],
  { now, look }: Moment,
): readonly string[] {
  const { verb, status, done, failed, expected, createdAt, endedAt, aborted } = operation;
  const treated = done + skippedOf(operation) + failed;
  // Only its end says that it is whole: what it comes to may be more or less than was expected.
  const [part, whole] =
    status === "DONE" ? [1, 1] : [treated, Math.max(expected.eligible.count, treated + 1)];
  const bar = progressBar(part, whole, { width: BAR_WIDTH, unicode: look.unicode });
  const facts: readonly Fact[] = [
    ["filter", filterText(operation.filter)],
    [
      "asked",
      `${clockText(createdAt, now, look)}${operation.by === null ? "" : ` by ${safeText(operation.by)}`}`,
    ],
    ["reason", operation.reason === null ? null : safeText(operation.reason)],
    ["aborted", aborted === null ? null : [aborted.by ?? "", aborted.reason ?? ""].map(safeText).join("  ")],
    ["problem", operation.problem === null ? null : safeText(operation.problem)],
    ["skipped", skippedText(operation)],
    ["operation", operation.operationId],
  ];
  return [
    `${OPERATION_LOOK[status](look)}  ${look.colors.bold(verb)}  ${bar}  ${sinceText(createdAt, endedAt ?? now)}`,
    `  ${operationProgress(operation)}`,
    ...factLines(facts, look),
    ...itemLines(items),
  ];
}

function skippedOf({ skipped }: Operation): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function skippedText({ skipped }: Operation): string | null {
  const reasons = Object.entries(skipped) as [SkipReason, number][];
  return reasons.length === 0 ? null : reasons.map(([reason, count]) => `${count} ${WHY[reason]}`).join(", ");
}

function itemLines(items: readonly OperationItem[]): readonly string[] {
  const rows = items.map(({ result, taskRunId, title, reason, detail }) => [
    `  ${result}`,
    safeText(title ?? ""),
    shortId(taskRunId),
    [reason, detail ?? ""].map(safeText).join("  ").trimEnd(),
  ]);
  return rows.length === 0 ? [] : ["", ...alignColumns(rows)];
}

/** "status:failed queue:night" */
function filterText({ ids, status, runId, kind, queue, tag, enqueuedSince }: OperationFilter): string {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ["ids", ids === undefined ? undefined : String(ids.length)],
    ["status", status?.map(statusWord).join(",")],
    ["run", runId],
    ["kind", kind],
    ["queue", queue],
    ["tag", tag],
    ["since", enqueuedSince],
  ];
  return parts.flatMap(([name, text]) => (text === undefined ? [] : [`${name}:${safeText(text)}`])).join(" ");
}

export function countText({ count, atLeast }: OperationPreview["matched"]): string {
  return atLeast ? `${count} or more` : String(count);
}

/** What would be done, before it is. */
export function previewLines({
  verb,
  matched,
  eligible,
  groups,
  first,
}: OperationPreview): readonly string[] {
  return [
    `Would ${verb} ${countText(eligible)} of ${countText(matched)} task runs.`,
    ...groups.flatMap(({ count, reason }) => (reason === null ? [] : [`  not ${count} that ${WHY[reason]}`])),
    ...first.map(
      ({ title, taskRunId, status }) => `  ${safeText(title)}  ${statusWord(status)}  ${shortId(taskRunId)}`,
    ),
    ...(eligible.count > first.length ? [`  … and ${eligible.count - first.length} more`] : []),
  ];
}
