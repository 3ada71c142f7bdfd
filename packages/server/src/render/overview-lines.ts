/** What stands where, at a glance. */

import type { Overview, TaskRun } from "@signalbox/contract";
import { instanceColumns } from "./instance-lines.ts";
import type { Look } from "./look.ts";
import { statusText } from "./status-look.ts";
import { alignColumns, renderTable } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { attemptText } from "./task-run-columns.ts";
import { sinceText } from "./time.ts";
import { WAITING_LABEL } from "./waiting-cause.ts";

/** One that was lost or has left is news for this long. */
const GONE_SHOWN_MS = 60_000;

export function overviewLines(
  overview: Overview,
  running: readonly TaskRun[],
  look: Look,
): readonly string[] {
  return [
    ...instanceLines(overview, look),
    "",
    ...waitingCountLines(overview, look),
    `${statusText("AVAILABLE", look)}  ${boundedText(overview.available, overview)}`,
    `${statusText("RUNNING", look)}  ${boundedText(overview.running, overview)}`,
    ...alignColumns(running.map((taskRun) => runningRow(taskRun, overview.computedAt))).map(
      (line) => `  ${line}`,
    ),
  ];
}

function instanceLines({ instances, computedAt }: Overview, look: Look): readonly string[] {
  const shown = instances.filter(
    ({ state, beatAt }) => state !== "DEAD" || Date.parse(computedAt) - Date.parse(beatAt) < GONE_SHOWN_MS,
  );
  if (shown.length === 0) return ["No instance is live: nothing is promoted or run."];
  const columns = instanceColumns({ now: computedAt, look }).filter(({ wide }) => wide !== true);
  return renderTable(
    columns.map(({ name }) => name.toUpperCase()),
    shown
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map((instance) => columns.map(({ text }) => text(instance))),
  );
}

function waitingCountLines(overview: Overview, look: Look): readonly string[] {
  const counts = Object.entries(overview.waiting).filter(([, count]) => count > 0) as [
    keyof typeof WAITING_LABEL,
    number,
  ][];
  const rows = counts
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => [boundedText(count, overview).padStart(4), code, WAITING_LABEL[code]]);
  return [
    `${statusText("PENDING", look)}  ${pendingText(overview)}`,
    ...alignColumns(rows).map((line) => `  ${line}`),
  ];
}

/** All that waits; "10000+" where one of the counts stopped. */
export function pendingText({ waiting, countedUpTo }: Overview): string {
  const counts = Object.values(waiting);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.some((count) => count >= countedUpTo) ? `${total}+` : String(total);
}

export function boundedText(count: number, { countedUpTo }: Overview): string {
  return count >= countedUpTo ? `${count}+` : String(count);
}

function runningRow(taskRun: TaskRun, now: string): readonly string[] {
  return [
    shortId(taskRun.taskRunId),
    safeText(taskRun.title),
    taskRun.instanceName === null ? "" : `on ${safeText(taskRun.instanceName)}`,
    `attempt ${attemptText(taskRun)}`,
    taskRun.claimedAt === null ? "" : sinceText(taskRun.claimedAt, now),
    taskRun.cancelRequestedAt === null ? "" : "canceling",
  ];
}
