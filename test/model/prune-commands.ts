/**
 * Pruning: what has ended long enough ago goes, with all that belongs to it, and nothing else. How long things are kept
 * is set to the age of one that has ended, so those that ended after it stay.
 */

import { expect } from "vitest";
import type { KeepMs } from "../../packages/core/src/domain/retention.ts";
import { pruneOnce } from "../../packages/core/src/engine/pruner.ts";
import { took } from "./coverage.ts";
import { isOpen, type Model, type ModelRun, type ModelTask, newestOf } from "./model.ts";
import { tally } from "./moves.ts";
import { codeOfError, type Rig } from "./rig.ts";
import { type Command, pick, type Scene } from "./scene.ts";
import type { Ended } from "./steps.ts";

export const prune: Command<"prune"> = async (scene, { which, statuses }) => {
  const { rig, model } = scene;
  const ends = await readEnds(rig);
  const endOf = ({ taskId }: ModelTask): number => ends.endedMs.get(taskId) ?? 0;
  const prunable = model.tasks
    .filter((task) => isPrunable(task, statuses))
    .toSorted((a, b) => endOf(a) - endOf(b));
  const last = pick(prunable, which);
  if (last === null) return false;
  const lastMs = endOf(last);
  const before = prunable.filter((task) => endOf(task) <= lastMs);
  await bringWalkToThePresent(rig);
  const counts = await pruneAll(rig, keepFor(statuses, ends.nowMs - lastMs));
  const after = await readEnds(rig);
  // While it went on, those that ended right after it may have become old enough.
  const perhaps = new Set(prunable.filter((task) => endOf(task) <= lastMs + after.nowMs - ends.nowMs));
  const gone = model.tasks.filter(({ taskId }) => !after.endedMs.has(taskId));
  const still = before.filter((task) => !gone.includes(task)).map(({ number }) => number);
  expect(still, "tasks that were kept for too long").toEqual([]);
  expect(
    gone.filter((task) => !perhaps.has(task)).map(({ number }) => number),
    "tasks that went too soon",
  ).toEqual([]);
  const runs = forget(model, gone);
  expect(counts, "what the pruner told").toEqual({
    tasks: gone.length,
    taskRuns: gone.flatMap(({ attempts }) => attempts).length,
    runs: runs.length,
  });
  await expectNothingLeft(rig, gone, runs);
  await expectNotFound(scene, last);
  if (runs.length > 0) took(scene.coverage, "run pruned");
  if (prunable.length > gone.length) took(scene.coverage, "kept what ended later");
  return true;
};

/** It has ended, its run too, and no rate can still count its starts. */
function isPrunable(task: ModelTask, statuses: readonly Ended[]): boolean {
  const newest = newestOf(task);
  if (isOpen(newest) || !statuses.some((status) => status === newest.status)) return false;
  return !task.wish.rated && (task.run === null || tally(task.run.tasks).status !== "RUNNING");
}

interface Ends {
  readonly nowMs: number;
  /** When a task and its run had ended, of every task that there is. */
  readonly endedMs: ReadonlyMap<string, number>;
}

async function readEnds({ db }: Rig): Promise<Ends> {
  const { rows } = await db.client.query<{ nowMs: number; taskId: string | null; endedMs: number | null }>(
    `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs", k.id AS "taskId",
            floor(extract(epoch FROM greatest(r.finished_at, (
              SELECT finished_at FROM signalbox.task_run WHERE task_id = k.id ORDER BY attempt DESC LIMIT 1))) * 1000
            )::float8 AS "endedMs"
       FROM (VALUES (true)) AS always (one)
       LEFT JOIN signalbox.task AS k ON true
       LEFT JOIN signalbox.run AS r ON r.id = k.run_id`,
  );
  const endedMs = rows.flatMap((row): readonly (readonly [string, number])[] =>
    row.taskId === null ? [] : [[row.taskId, row.endedMs ?? 0]],
  );
  return { nowMs: rows[0]?.nowMs ?? 0, endedMs: new Map(endedMs) };
}

function keepFor(statuses: readonly Ended[], ms: number): KeepMs {
  const keep = (status: Ended): number => (statuses.includes(status) ? ms : Number.POSITIVE_INFINITY);
  return { DONE: keep("DONE"), FAILED: keep("FAILED"), CANCELED: keep("CANCELED") };
}

/** Instead of the hour that it stays behind: what is new lies behind it too, and where it left something open is due again. */
async function bringWalkToThePresent({ query }: Rig): Promise<void> {
  await query(
    "UPDATE signalbox.retention_range SET open_seen_at = '-infinity' WHERE open_seen_at IS NOT NULL",
  );
  await query(
    `WITH before AS (
       SELECT walked_to FROM signalbox.retention_walk
     ), walked AS (
       INSERT INTO signalbox.retention_walk (walked_to) VALUES (signalbox.new_id())
           ON CONFLICT (one) DO UPDATE SET walked_to = excluded.walked_to
       RETURNING walked_to
     )
     INSERT INTO signalbox.retention_range (after_id, to_id, open_seen_at)
     SELECT coalesce((SELECT walked_to FROM before), '${FIRST_ID}'), walked_to, '-infinity'
       FROM walked`,
  );
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

interface Pruned {
  readonly tasks: number;
  readonly taskRuns: number;
  readonly runs: number;
}

async function pruneAll({ pool }: Rig, keepMs: KeepMs): Promise<Pruned> {
  const total = { tasks: 0, taskRuns: 0, runs: 0 };
  let more = true;
  while (more) {
    more = await pruneOnce({
      pool,
      keepMs,
      emit: (event) => {
        if (event.type !== "retention.pruned") return;
        total.tasks += event.tasks;
        total.taskRuns += event.taskRuns;
        total.runs += event.runs;
      },
    });
  }
  return total;
}

/** Answers the runs that go with the last of their tasks. */
function forget(model: Model, gone: readonly ModelTask[]): readonly ModelRun[] {
  for (const task of gone) {
    task.pruned = true;
    model.tasks.splice(model.tasks.indexOf(task), 1);
    model.pruned.push(task);
  }
  const runs = model.runs.filter(({ tasks }) => tasks.every(({ pruned }) => pruned));
  for (const run of runs) {
    model.runs.splice(model.runs.indexOf(run), 1);
    model.paused.delete(`run:${run.runId}`);
  }
  return runs;
}

const OF_TASK_RUNS = ["task_run_result", "log_chunk", "wait_time", "queue_deadline", "outside_job"];

async function expectNothingLeft(
  { db }: Rig,
  gone: readonly ModelTask[],
  runs: readonly ModelRun[],
): Promise<void> {
  const taskRunIds = gone.flatMap(({ attempts }) => attempts.map(({ taskRunId }) => taskRunId));
  const runIds = runs.map(({ runId }) => runId);
  const { rows } = await db.client.query(
    `SELECT 'event_store' AS of, aggregate_id::text AS id
       FROM signalbox.event_store WHERE aggregate_id = ANY ($1::uuid[] || $3::uuid[])
      UNION ALL SELECT 'stop', task_id::text FROM signalbox.stop WHERE task_id = ANY ($2::uuid[])
      UNION ALL SELECT 'pause', name FROM signalbox.pause WHERE over = 'run' AND name = ANY ($3::text[])
      ${OF_TASK_RUNS.map((table) => `UNION ALL SELECT '${table}', task_run_id::text FROM signalbox.${table} WHERE task_run_id = ANY ($1::uuid[])`).join("\n")}`,
    [taskRunIds, gone.map(({ taskId }) => taskId), runIds],
  );
  expect(rows, "what is left of pruned tasks").toEqual([]);
}

async function expectNotFound({ rig }: Scene, { taskId, attempts }: ModelTask): Promise<void> {
  for (const id of [taskId, attempts[0]?.taskRunId ?? taskId]) {
    expect(await codeOfError(rig.scheduler.retry(id)), "retry of a pruned task").toBe("TASK_NOT_FOUND");
    expect(await codeOfError(rig.scheduler.cancel(id)), "cancel of a pruned task").toBe("TASK_NOT_FOUND");
  }
}
