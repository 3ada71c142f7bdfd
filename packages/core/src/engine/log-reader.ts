/** Answers what a task run has printed: a part of it, as it grows, or where a text is in it. */

import { SchedulerError } from "../domain/errors.ts";
import { requireWithin } from "../domain/filter.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { problemWithText } from "../domain/json-value.ts";
import type { LogEntry } from "../domain/log.ts";
import { requireId, requireMembers, requireOptions } from "../domain/require-shape.ts";
import type { Pool } from "../store/database.ts";
import { readLog } from "../store/logs/read.ts";
import { searchLog } from "../store/logs/search.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { FOLLOW_LOG_OPTIONS, READ_LOG_OPTIONS, SEARCH_LOG_OPTIONS } from "./argument-shapes.ts";
import type { Scheduler } from "./scheduler-face.ts";

const DEFAULT_LOG_PAGE = 100;
const LARGEST_LOG_PAGE = 1_000;
const LONGEST_SEARCH = 200;

export interface LogReaderDeps {
  readonly pool: Pool;
  /** That of searches. */
  readonly searches: Pool;
  readonly follow: (
    taskRunId: TaskRunId,
    options: { readonly from: number; readonly signal: AbortSignal | null },
  ) => AsyncGenerator<LogEntry, void, undefined>;
}

export function logReader({
  pool,
  searches,
  follow,
}: LogReaderDeps): Pick<Scheduler, "readLog" | "followLog" | "searchLog"> {
  return {
    readLog: async (id, options) => {
      requireId("id", id);
      requireOptions("INVALID_ARGUMENT", options, READ_LOG_OPTIONS);
      const from = requireFrom(options?.from);
      const limit = requirePage(options?.limit);
      const { taskRunId } = await findTaskRun(pool, id);
      return await readLog(pool, taskRunId, { from, limit });
    },
    followLog: async function* followLog(id, options) {
      requireId("id", id);
      requireOptions("INVALID_ARGUMENT", options, FOLLOW_LOG_OPTIONS);
      const from = requireFrom(options?.from);
      const { taskRunId } = await findTaskRun(pool, id);
      yield* follow(taskRunId, { from, signal: options?.signal ?? null });
    },
    searchLog: async (id, options) => {
      requireId("id", id);
      requireMembers("INVALID_ARGUMENT", "options", options, SEARCH_LOG_OPTIONS);
      const search = requireSearch(options.search);
      const from = requireFrom(options.from);
      const limit = requirePage(options.limit);
      const { taskRunId } = await findTaskRun(pool, id);
      return await searches.snapshot(async (tx) => await searchLog(tx, taskRunId, { search, from, limit }));
    },
  };
}

function requireFrom(given: number | undefined): number {
  const from = given ?? 0;
  requireWithin("from", from, 0, Number.MAX_SAFE_INTEGER);
  return from;
}

function requirePage(given: number | undefined): number {
  const limit = given ?? DEFAULT_LOG_PAGE;
  requireWithin("limit", limit, 1, LARGEST_LOG_PAGE);
  return limit;
}

function requireSearch(search: string): string {
  const length = search.length;
  const problem =
    length === 0 || length > LONGEST_SEARCH
      ? `has ${length} characters, not 1 to ${LONGEST_SEARCH}`
      : /[\r\n]/.test(search)
        ? "goes over the end of a line"
        : problemWithText(search);
  if (problem !== null)
    throw new SchedulerError("INVALID_FILTER", { problem: `has a search that ${problem}` });
  return search;
}
