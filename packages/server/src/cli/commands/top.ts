import type { Client, Overview, TaskRun, TaskRunQuery } from "@signalbox/contract";
import { overviewLines } from "../../render/overview-lines.ts";
import { alignColumns } from "../../render/table.ts";
import { safeText, shortId } from "../../render/task-name.ts";
import { aboutText, statusSince } from "../../render/task-run-columns.ts";
import { sinceText } from "../../render/time.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { topicOf } from "../follow-news.ts";
import type { Output } from "../output.ts";
import type { AskOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { jsonStanding, standingFacts } from "./status.ts";

export type TopOptions = AskOptions & WatchOptions;

interface Standing {
  readonly overview: Overview;
  readonly running: readonly TaskRun[];
  readonly waiting: readonly TaskRun[];
}

const RUNNING: TaskRunQuery = { status: ["RUNNING"], limit: 100 };
const WAITING: TaskRunQuery = { status: ["PENDING"], limit: 100 };

/** The whole cluster as it moves, until Ctrl-C. */
export async function top(options: TopOptions, output: Output): Promise<ExitCode> {
  const client = await findServer({ ...options, watch: true });
  return await watch<Standing>(
    {
      read: async () => await readStanding(client),
      lines: (standing) => topLines(standing, output),
      facts: ({ overview }) => standingFacts(overview),
      jsonFacts: ({ overview }) => jsonStanding(overview),
      news: { client, topics: ["overview", topicOf("task-runs", RUNNING), topicOf("task-runs", WAITING)] },
      again: "signalbox top",
    },
    watchWish(options, output),
  );
}

async function readStanding(client: Client): Promise<Standing> {
  const [overview, running, waiting] = await Promise.all([
    client.overview(),
    client.listTaskRuns(RUNNING),
    client.listTaskRuns(WAITING),
  ]);
  return { overview, running: running.taskRuns, waiting: waiting.taskRuns };
}

function topLines({ overview, running, waiting }: Standing, { look }: Output): readonly string[] {
  // The longest waiting first.
  const rows = waiting
    .toReversed()
    .map((each) => [
      `  ${shortId(each.taskRunId)}`,
      safeText(each.title),
      sinceText(statusSince(each), overview.computedAt),
      aboutText(each),
    ]);
  const list = rows.length === 0 ? [] : ["", look.colors.bold("Waiting"), ...alignColumns(rows)];
  return [...overviewLines(overview, running, look), ...list];
}
