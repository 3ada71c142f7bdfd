/** `runs list`, `show` and `watch`. */

import type { Client, Run, RunDetail, RunQuery, TaskRun } from "@signalbox/contract";
import { RUN_STATUSES, type RunStatus } from "@signalbox/core/domain";
import { failureLines, progressText, runColumns, runLines } from "../../render/run-lines.ts";
import { statusText } from "../../render/status-look.ts";
import { safeText, shortId } from "../../render/task-name.ts";
import { aboutText } from "../../render/task-run-columns.ts";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import { topicOf } from "../follow-news.ts";
import type { Output } from "../output.ts";
import { isTable, listLines, printList, printOne } from "../print.ts";
import { type AskOptions, isJson, type ListOptions, type WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";

export interface RunListOptions extends AskOptions, ListOptions, WatchOptions {
  readonly limit: number;
  readonly status?: readonly string[];
}

export type RunShowOptions = AskOptions & WatchOptions;

interface Standing {
  readonly run: RunDetail;
  /** The newest attempts of its tasks, as far as one page goes. */
  readonly taskRuns: readonly TaskRun[];
}

const END: Readonly<Record<RunStatus, ExitCode | null>> = {
  RUNNING: null,
  DONE: EXIT.ok,
  FAILED: EXIT.failed,
  CANCELED: EXIT.canceled,
};
const TOLD_ONE_BY_ONE = 500;
const PROGRESS_EACH_MS = 30_000;

export async function runList(options: RunListOptions, output: Output): Promise<ExitCode | undefined> {
  const query = { ...statusQuery(options.status), limit: options.limit };
  const client = await findServer(options);
  if (options.watch === true) return await watchList(client, query, { options, output });
  const { runs, next } = await client.listRuns(query);
  printList(listingOf(runs, output), options, output);
  if (next !== null && isTable(options)) output.note(`There are more (--limit ${options.limit}).`);
  return undefined;
}

function listingOf(rows: readonly Run[], { look }: Output) {
  return {
    rows,
    columns: runColumns({ now: new Date().toISOString(), look }),
    nameOf: ({ runId }: Run) => runId,
    empty: "There is no such run.",
  };
}

async function watchList(
  client: Client,
  query: RunQuery,
  { options, output }: { readonly options: RunListOptions; readonly output: Output },
): Promise<ExitCode> {
  return await watch<readonly Run[]>(
    {
      read: async () => (await client.listRuns(query)).runs,
      lines: (runs) => listLines(listingOf(runs, output), options),
      facts: (runs) =>
        new Map(
          runs.map((run) => [
            run.runId,
            `${statusText(run.status, output.look)}  ${shortId(run.runId)}  ${safeText(run.title)}  ${run.openTasks} open, ${run.failedTasks} failed`,
          ]),
        ),
      jsonFacts: (runs) => new Map(runs.map((run) => [run.runId, JSON.stringify(run)])),
      news: { client, topics: [topicOf("runs", query)] },
      again: "signalbox runs list --watch",
    },
    watchWish(options, output),
  );
}

function statusQuery(given: readonly string[] | undefined): RunQuery {
  return given === undefined ? {} : { status: given.map(statusOf) };
}

function statusOf(given: string): RunStatus {
  const status = RUN_STATUSES.find((each) => each === given.toUpperCase());
  if (status !== undefined) return status;
  throw new UsageError(
    `"${given}" is not a status of runs; there are ${RUN_STATUSES.join(", ").toLowerCase()}`,
  );
}

export async function runShow(
  id: string,
  options: RunShowOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  const runId = await findRunId(client, id);
  if (options.watch === true) return await watchRun(client, runId, { options, output });
  const { run, taskRuns } = await readStanding(client, runId);
  const moment = { now: new Date().toISOString(), look: output.look };
  printOne(run, { name: runId, lines: () => runLines(run, taskRuns, moment) }, { options, output });
  return undefined;
}

async function readStanding(client: Client, runId: string): Promise<Standing> {
  const [run, page] = await Promise.all([
    client.getRun(runId),
    client.listTaskRuns({ runId, limit: TOLD_ONE_BY_ONE }),
  ]);
  return { run, taskRuns: newestAttempts(page.taskRuns) };
}

/** A page has the newest first, so the first of a task is its newest attempt. */
function newestAttempts(taskRuns: readonly TaskRun[]): readonly TaskRun[] {
  const newest = new Map<string, TaskRun>();
  for (const taskRun of taskRuns) {
    const known = newest.get(taskRun.taskId);
    if (known === undefined || known.attempt < taskRun.attempt) newest.set(taskRun.taskId, taskRun);
  }
  return [...newest.values()];
}

async function watchRun(
  client: Client,
  runId: string,
  { options, output }: { readonly options: RunShowOptions; readonly output: Output },
): Promise<ExitCode> {
  const lines = ({ run, taskRuns }: Standing): readonly string[] =>
    runLines(run, taskRuns, { now: new Date().toISOString(), look: output.look });
  const progress = progressFact();
  return await watch<Standing>(
    {
      read: async () => await readStanding(client, runId),
      lines,
      facts: ({ run, taskRuns }) =>
        new Map([...taskRuns.map((taskRun) => factOf(taskRun, output)), ["progress", progress(run)]]),
      jsonFacts: ({ taskRuns }) => new Map(taskRuns.map((each) => [each.taskRunId, JSON.stringify(each)])),
      endOf: ({ run }) => END[run.status],
      summary: (state) =>
        isJson(options) ? [JSON.stringify(state.run)] : [...lines(state), ...failureLines(state.taskRuns)],
      news: { client, topics: [`runs/${runId}`, topicOf("task-runs", { runId, limit: TOLD_ONE_BY_ONE })] },
      again: `signalbox runs watch ${runId}`,
    },
    watchWish(options, output),
  );
}

function factOf(taskRun: TaskRun, { look }: Output): readonly [string, string] {
  const { taskId, status, title, attempt } = taskRun;
  const about = `attempt ${attempt}  ${aboutText(taskRun)}`.trimEnd();
  return [taskId, `${statusText(status, look)}  ${safeText(title)}  ${about}`];
}

/** A line of its own only now and then: it changes with everything. */
function progressFact(): (run: RunDetail) => string {
  let said = "";
  let saidAt = Number.NEGATIVE_INFINITY;
  return (run) => {
    if (performance.now() - saidAt < PROGRESS_EACH_MS) return said;
    saidAt = performance.now();
    said = `progress  ${safeText(run.title)}  ${progressText(run)}`;
    return said;
  };
}
