/** `task list` and `task show`. */

import type { Client, TaskRun, TaskRunDetail, TaskRunQuery } from "@signalbox/contract";
import { TASK_RUN_STATUSES, type TaskRunStatus } from "@signalbox/core/domain";
import { taskRunColumns } from "../../render/task-run-columns.ts";
import { taskRunLines } from "../../render/task-run-lines.ts";
import { UsageError } from "../../usage-error.ts";
import type { ExitCode } from "../exit-code.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import { topicOf } from "../follow-news.ts";
import { taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { isTable, listLines, printList, printOne } from "../print.ts";
import type { AskOptions, ListOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { watchTask } from "../watch-task.ts";

export interface TaskListOptions extends AskOptions, ListOptions, WatchOptions {
  readonly limit: number;
  readonly status?: readonly string[];
  readonly kind?: string;
  readonly queue?: string;
  readonly tag?: string;
  readonly run?: string;
  readonly since?: Date;
}

export type TaskShowOptions = AskOptions & WatchOptions;

const PAGE = 500;

export async function taskList(options: TaskListOptions, output: Output): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  const query = await queryOf(client, options);
  if (options.watch === true) return await watchList(client, query, { options, output });
  const { taskRuns, more } = await readTaskRuns(client, query, options);
  printList(listingOf(taskRuns, output), options, output);
  if (more && isTable(options)) output.note(`There are more (--limit ${options.limit}).`);
  return undefined;
}

function listingOf(rows: readonly TaskRun[], { look }: Output) {
  return {
    rows,
    columns: taskRunColumns({ now: new Date().toISOString(), look }),
    nameOf: ({ taskRunId }: TaskRun) => taskRunId,
    empty: "No task run is like that.",
  };
}

async function watchList(
  client: Client,
  query: TaskRunQuery,
  { options, output }: { readonly options: TaskListOptions; readonly output: Output },
): Promise<ExitCode> {
  return await watch(
    {
      read: async () => (await readTaskRuns(client, query, options)).taskRuns,
      lines: (taskRuns) => listLines(listingOf(taskRuns, output), options),
      facts: (taskRuns) => {
        const [, ...lines] = listLines(listingOf(taskRuns, output), { columns: FACT_COLUMNS });
        return new Map(taskRuns.map(({ taskRunId }, index) => [taskRunId, lines[index] ?? ""]));
      },
      jsonFacts: (taskRuns) => new Map(taskRuns.map((each) => [each.taskRunId, JSON.stringify(each)])),
      news: { client, topics: [topicOf("task-runs", query)] },
      again: "signalbox task list --watch",
    },
    watchWish(options, output),
  );
}

/** Without what changes by itself: the time. */
const FACT_COLUMNS = ["status", "id", "title", "attempt", "about"];

async function queryOf(client: Client, options: TaskListOptions): Promise<TaskRunQuery> {
  const { status, kind, queue, tag, run } = options;
  return {
    ...(status === undefined ? {} : { status: status.map(statusOf) }),
    ...(kind === undefined ? {} : { kind }),
    ...(queue === undefined ? {} : { queue }),
    ...(tag === undefined ? {} : { tag }),
    ...(run === undefined ? {} : { runId: await findRunId(client, run) }),
  };
}

function statusOf(given: string): TaskRunStatus {
  const status = TASK_RUN_STATUSES.find((each) => each === given.toUpperCase());
  if (status !== undefined) return status;
  throw new UsageError(`"${given}" is not a status; there are ${TASK_RUN_STATUSES.join(", ").toLowerCase()}`);
}

/** Page by page, until there are enough or they are too old. */
async function readTaskRuns(
  client: Client,
  query: TaskRunQuery,
  { limit, since }: Pick<TaskListOptions, "limit" | "since">,
): Promise<{ readonly taskRuns: readonly TaskRun[]; readonly more: boolean }> {
  const taskRuns: TaskRun[] = [];
  let before: string | null = null;
  for (;;) {
    const page = await client.listTaskRuns({
      ...query,
      limit: Math.min(PAGE, limit - taskRuns.length),
      ...(before === null ? {} : { before }),
    });
    const young =
      since === undefined
        ? page.taskRuns
        : page.taskRuns.filter((each) => Date.parse(each.enqueuedAt) >= since.getTime());
    taskRuns.push(...young);
    before = page.next;
    if (before === null || young.length < page.taskRuns.length) return { taskRuns, more: false };
    if (taskRuns.length >= limit) return { taskRuns, more: true };
  }
}

export async function taskShow(
  id: string,
  options: TaskShowOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const given = taskRunIdOf(id);
  const client = await findServer(options);
  const taskRun = await client.getTaskRun(given);
  if (options.watch === true) return await watchTask(client, taskRun.taskId, { options, output });
  const { taskRuns } = await client.listAttempts(taskRun.taskRunId);
  show(taskRun, taskRuns, { options, output });
  return undefined;
}

function show(
  taskRun: TaskRunDetail,
  attempts: readonly TaskRun[],
  { options, output }: { readonly options: TaskShowOptions; readonly output: Output },
): void {
  const moment = { now: new Date().toISOString(), look: output.look };
  const lines = (): readonly string[] => taskRunLines(taskRun, attempts, moment);
  printOne(taskRun, { name: taskRun.taskRunId, lines }, { options, output });
}
