/** What becomes of outside jobs in the oracle's memory, and when exactly the database says that they are polled next. */

import { expect } from "vitest";
import { labelOf, type ModelJob, type ModelTaskRun } from "./model.ts";
import type { Rig } from "./rig.ts";
import { DEADLINE_MS } from "./steps.ts";

/** Somebody waits for the end of what is canceled: it is not left alone for longer. */
const SOON_MS = 1_000;
const HOUR_MS = 3_600_000;

export interface JobAsked {
  readonly handle: string;
  readonly pollInMs: number;
  readonly deadlineInMs: number;
}

/** It is nobody's, goes on, and keeps what it holds. Answers in how long it is polled. */
export function letGoIt(taskRun: ModelTaskRun, { handle, pollInMs, deadlineInMs }: JobAsked): number {
  const afterMs = taskRun.canceling ? 0 : Math.min(pollInMs, deadlineInMs);
  const poll = afterMs === deadlineInMs ? "at the deadline" : whenIn(afterMs);
  taskRun.job = { handle, poll, overdue: false, losses: taskRun.job?.losses ?? 0 };
  Object.assign(taskRun, { claimedBy: null, letGo: true });
  return afterMs;
}

/** An instance parts from a job that is not over. Answers in how long it is polled; null: when its deadline passes. */
export function returnIt(taskRun: ModelTaskRun, pollInMs: number): number | null {
  const { job, canceling } = taskRun;
  if (job === null) throw new Error(`${labelOf(taskRun)} has no job`);
  const afterMs = canceling ? Math.min(pollInMs, SOON_MS) : job.overdue ? 0 : pollInMs;
  const isBeyond = afterMs > DEADLINE_MS;
  job.poll = isBeyond ? "at the deadline" : whenIn(afterMs);
  Object.assign(taskRun, { claimedBy: null, letGo: true });
  return isBeyond ? null : afterMs;
}

function whenIn(ms: number): ModelJob["poll"] {
  return ms === 0 ? "due" : "later";
}

export async function databaseNow({ db }: Rig): Promise<string> {
  const { rows } = await db.client.query<{ now: string }>("SELECT clock_timestamp()::text AS now");
  return rows[0]?.now ?? "";
}

/**
 * The next polls that were written since then are as far ahead as they must be. After that those that lie ahead are put
 * off, so that none comes due while a sequence goes on.
 */
export async function expectNextPolls(
  { db, query }: Rig,
  since: string,
  nextPolls: ReadonlyMap<ModelTaskRun, number>,
): Promise<void> {
  if (nextPolls.size === 0) return;
  const { rows } = await db.client.query<{ id: string; inTime: boolean }>(
    `SELECT g.id, j.next_poll_at - g.ms * interval '1 ms' BETWEEN $3 AND clock_timestamp() AS "inTime"
       FROM unnest($1::uuid[], $2::bigint[]) AS g (id, ms)
       LEFT JOIN signalbox.outside_job AS j ON j.task_run_id = g.id`,
    [[...nextPolls.keys()].map(({ taskRunId }) => taskRunId), [...nextPolls.values()], since],
  );
  for (const [taskRun, ms] of nextPolls) {
    const row = rows.find(({ id }) => id === taskRun.taskRunId);
    expect(row?.inTime, `next poll of ${labelOf(taskRun)} is in ${ms} ms`).toBe(true);
  }
  const later = [...nextPolls.keys()].filter(({ job }) => job?.poll === "later");
  await query(
    `UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp() + ${HOUR_MS} * interval '1 ms'
      WHERE task_run_id = ANY ($1::uuid[])`,
    [later.map(({ taskRunId }) => taskRunId)],
  );
}
