/** Runs: a list of them, and one with its tasks. */

import type { Run, RunDetail, TaskRun } from "@signalbox/contract";
import { progressBar } from "./progress-bar.ts";
import { statusText, statusWord } from "./status-look.ts";
import { alignColumns, type Column } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { aboutText, attemptText, statusSince } from "./task-run-columns.ts";
import { clockText, sinceText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";

const BAR_WIDTH = 28;
/** What needs somebody first; what has ended well is only counted. */
const SHOWN = ["FAILED", "RUNNING", "AVAILABLE", "PENDING"] as const;

export function runColumns({ now, look }: Moment): readonly Column<Run>[] {
  return [
    { name: "status", text: ({ status }) => statusText(status, look) },
    { name: "id", text: ({ runId }) => shortId(runId) },
    { name: "title", text: ({ title }) => safeText(title) },
    { name: "open", text: ({ openTasks }) => String(openTasks) },
    { name: "failed", text: ({ failedTasks }) => String(failedTasks) },
    { name: "canceled", text: ({ canceledTasks }) => String(canceledTasks) },
    { name: "limit", text: ({ limit }) => (limit === 0 ? "none" : String(limit)) },
    { name: "age", text: ({ createdAt }) => sinceText(createdAt, now) },
    { name: "about", text: ({ paused }) => (paused === null ? "" : pausedText(paused, now)) },
    { name: "created", wide: true, text: ({ createdAt }) => clockText(createdAt, now, look) },
    {
      name: "finished",
      wide: true,
      text: ({ finishedAt }) => (finishedAt === null ? "" : clockText(finishedAt, now, look)),
    },
  ];
}

export function pausedText({ since, by, reason }: NonNullable<Run["paused"]>, now: string): string {
  const who = by === null ? "" : ` by ${safeText(by)}`;
  return `paused${who} for ${sinceText(since, now)}${reason === null ? "" : `: ${safeText(reason)}`}`;
}

export function runLines(run: RunDetail, taskRuns: readonly TaskRun[], moment: Moment): readonly string[] {
  const { now, look } = moment;
  const length = sinceText(run.createdAt, run.finishedAt ?? now);
  const { done, all } = progressOf(run);
  const bar = progressBar(done, all, { width: BAR_WIDTH, unicode: look.unicode });
  return [
    `${statusText(run.status, look)}  ${look.colors.bold(safeText(run.title))}  ${done}/${all}  ${bar}  ${length}`,
    `  ${progressText(run)}${run.limit === 0 ? "" : `, at most ${run.limit} at once`}`,
    ...(run.paused === null ? [] : [`  ${look.colors.yellow(pausedText(run.paused, now))}`]),
    look.colors.dim(`  run ${run.runId}`),
    ...taskLines(taskRuns, moment),
  ];
}

/** "41 done, 5 running, 3 pending, 1 failed" */
export function progressText({ tasks }: RunDetail): string {
  const counts = (["DONE", "RUNNING", "AVAILABLE", "PENDING", "FAILED", "CANCELED"] as const)
    .filter((status) => tasks[status] > 0)
    .map((status) => `${tasks[status]} ${statusWord(status)}`);
  return counts.length === 0 ? "no tasks" : counts.join(", ");
}

function progressOf({ tasks }: RunDetail): { readonly done: number; readonly all: number } {
  const all = Object.values(tasks).reduce((sum, count) => sum + count, 0);
  return { done: all - tasks.PENDING - tasks.AVAILABLE - tasks.RUNNING, all };
}

function taskLines(taskRuns: readonly TaskRun[], { now, look }: Moment): readonly string[] {
  const rows = SHOWN.flatMap((status) => taskRuns.filter((taskRun) => taskRun.status === status)).map(
    (taskRun) => [
      `  ${statusText(taskRun.status, look)}`,
      safeText(taskRun.title),
      shortId(taskRun.taskRunId),
      `attempt ${attemptText(taskRun)}`,
      sinceText(statusSince(taskRun), now),
      aboutText(taskRun),
    ],
  );
  return rows.length === 0 ? [] : ["", ...alignColumns(rows)];
}

/** What went wrong, once more at the end, where it is looked for. */
export function failureLines(taskRuns: readonly TaskRun[]): readonly string[] {
  const failed = taskRuns.filter(({ status }) => status === "FAILED");
  if (failed.length === 0) return [];
  const each = failed.map(
    (taskRun) =>
      `  ${safeText(taskRun.title)}  attempt ${attemptText(taskRun)}  ${safeText(taskRun.outcome ?? "")}  signalbox logs ${taskRun.taskRunId}`,
  );
  return [`Failed (${failed.length}):`, ...each];
}
