import { placesBehindVersions } from "../../domain/behind-version.ts";
import { asRunId, type RunId, type TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { ResolvedTask } from "../../domain/task-spec.ts";
import type { Transaction } from "../database.ts";
import { NEARLY_FULL } from "../notify.ts";
import { preparedSql, type Statement, sql } from "../sql.ts";
import { DRAWN_BITS, HEAD_DIGITS, VARIANT } from "./counted-ids.ts";
import { setQueueDeadlines } from "./fail-overdue.ts";
import { columnsOf, type Form, formsOf } from "./forms.ts";
import { insertManyUngated } from "./insert-many-ungated.ts";
import { type InsertedRow, type InsertedTaskRun, toInserted } from "./inserted.ts";
import { isUngated } from "./plain.ts";

/**
 * What one statement carries. Between two of them the transaction stands still while the next is made of tasks here, and
 * the server ends one that stands still for too long.
 */
const BITE_TASKS = 5_000;
const BITE_CHARACTERS = 4_000_000;

/** Tasks with their first task runs and what the work sets need. Answers in the given order. */
export async function insertTasks(
  tx: Transaction,
  tasks: readonly ResolvedTask[],
  runId: RunId | null,
): Promise<readonly InsertedTaskRun[]> {
  const behind = placesBehindVersions(tasks);
  const inserted: InsertedTaskRun[] = [];
  for (const bite of bitesOf(tasks)) {
    const places = behind.slice(inserted.length, inserted.length + bite.length);
    inserted.push(...(await insertBite(tx, bite, { runId, behind: places, notifies: false })));
  }
  return inserted;
}

/** Up to one bite of plain tasks, in one statement, which also tells the other instances where it `notifies`. */
export async function insertPlainTasks(
  tx: Transaction,
  tasks: readonly ResolvedTask[],
  way: Omit<Way, "runId">,
): Promise<readonly InsertedTaskRun[]> {
  return await insertForms(tx, tasks, { ...way, runId: null });
}

/** How many of these, from the first on, go in one bite. */
export function firstBite(tasks: Iterable<ResolvedTask>): number {
  const [bite] = bitesOf(tasks);
  return bite?.length ?? 0;
}

/** In the given order. What is too long for one bite is one by itself. */
function* bitesOf(tasks: Iterable<ResolvedTask>): Generator<readonly ResolvedTask[]> {
  let bite: ResolvedTask[] = [];
  let characters = 0;
  for (const task of tasks) {
    const more = charactersOf(task);
    const isFull = bite.length >= BITE_TASKS || characters + more > BITE_CHARACTERS;
    if (isFull && bite.length > 0) {
      yield bite;
      bite = [];
      characters = 0;
    }
    bite.push(task);
    characters += more;
  }
  if (bite.length > 0) yield bite;
}

/** Of what can be long. */
function charactersOf({ inputJson, resources, tags, stops }: ResolvedTask): number {
  let characters = inputJson.length;
  for (const { name } of resources) characters += name.length;
  for (const tag of tags) characters += tag.length;
  for (const { code, detail } of stops) characters += code.length + (detail?.length ?? 0);
  return characters;
}

async function insertBite(
  tx: Transaction,
  tasks: readonly ResolvedTask[],
  way: Way,
): Promise<readonly InsertedTaskRun[]> {
  const ungated = way.runId === null && tasks.every(isUngated);
  const inserted =
    (ungated ? await insertManyUngated(tx, tasks, way) : null) ?? (await insertForms(tx, tasks, way));
  await setQueueDeadlines(tx, withQueueTimeout(inserted, tasks));
  return inserted;
}

async function insertForms(
  tx: Transaction,
  tasks: readonly ResolvedTask[],
  way: Way,
): Promise<readonly InsertedTaskRun[]> {
  const forms = formsOf(tasks);
  return toInserted(await tx.query(insertStatement(forms, way)), forms);
}

interface Way {
  readonly runId: RunId | null;
  /**
   * Where each waits for a smaller version of the same transaction. The same for all of one form. None where they are of
   * several callers: each is by itself then, and a pass looks at it.
   */
  readonly behind: readonly (ResourceName | null)[];
  readonly notifies: boolean;
}

function insertStatement(forms: readonly Form[], { runId, behind, notifies }: Way): Statement<InsertedRow> {
  const queues = [...new Set(forms.map(({ task }) => task.queue))];
  const of = columnsOf(forms, { queues, inRun: runId !== null });
  return preparedSql<InsertedRow>("insertTasks")`
    WITH rules (nos, apply) AS MATERIALIZED (
      -- What we see of the rules may be old by the time we commit: the numbers say which ones we saw.
      SELECT array_agg(coalesce(q.rules_no, 0) ORDER BY no), array_agg(
               coalesce(q.slot_limit > 0, false)
               OR EXISTS (SELECT FROM signalbox.pause AS p WHERE p.over = 'queue' AND p.name = g.name AND paused)
               OR EXISTS (SELECT FROM signalbox.start_window AS w WHERE w.over = 'queue' AND w.name = g.name AND windows <> '[]')
               ORDER BY no)
        FROM unnest(${queues}::text[]) WITH ORDINALITY AS g (name, no)
        LEFT JOIN signalbox.queue AS q ON q.name = g.name
    ), first_id AS MATERIALIZED (
      -- To draw each id would take as long as to write its row.
      SELECT left(t.id, ${HEAD_DIGITS}) AS head, right(t.id, 8) AS tail, right(r.id, 8) AS run_tail,
             (('x' || right(t.id, 16))::bit(32)::bigint & ${DRAWN_BITS}::bigint) | ${VARIANT}::bigint AS number,
             (('x' || right(r.id, 16))::bit(32)::bigint & ${DRAWN_BITS}::bigint) | ${VARIANT}::bigint AS run_number,
             clock_timestamp() AS enqueued_at
        FROM replace(signalbox.new_id()::text, '-', '') AS t (id), replace(signalbox.new_id()::text, '-', '') AS r (id)
    ), given AS MATERIALIZED (
      SELECT is_first, (head || to_hex(number + n) || tail)::uuid AS task_id,
             (head || to_hex(run_number + n) || run_tail)::uuid AS task_run_id,
             enqueued_at, input, kind, queue, priority, gated, status, rules_no, run_at, title, version, resources, policy,
             out_of_order, concurrency_key, rate, tags, stops, behind,
             CASE WHEN run_at > enqueued_at THEN 'RUN_AT' WHEN behind IS NOT NULL THEN 'VERSION_ORDER' END AS gate
        FROM first_id
       CROSS JOIN (
             SELECT kind, queue, priority, gated OR rules.apply[queue_no] AS gated,
                    CASE WHEN gated OR rules.apply[queue_no] THEN 'PENDING' ELSE 'AVAILABLE' END AS status,
                    rules.nos[queue_no] AS rules_no, run_at, title, string_to_array(version, '.')::bigint[] AS version,
                    coalesce(resources::jsonb, '[]') AS resources, policy::jsonb AS policy, out_of_order,
                    concurrency_key, rate, coalesce(tags::text[], '{}') AS tags, stops, inputs, before, behind
               FROM rules
              CROSS JOIN unnest(${of.kind}::text[], ${of.title}::text[], ${of.inputs}::text[], ${of.before}::integer[],
                                ${of.priority}::smallint[], ${of.runAt}::timestamptz[], ${of.version}::text[],
                                ${of.resources}::text[], ${of.policy}::text[], ${of.gated}::boolean[], ${of.queue}::text[],
                                ${of.concurrencyKey}::text[], ${of.rate}::text[], ${of.tags}::text[], ${of.stops}::text[],
                                ${of.outOfOrder}::boolean[], ${of.queueNo}::integer[],
                                ${forms.map(({ before }) => behind[before])}::text[])
                    AS g (kind, title, inputs, before, priority, run_at, version, resources, policy, gated, queue,
                          concurrency_key, rate, tags, stops, out_of_order, queue_no, behind)
             OFFSET 0) AS form             -- so that this is worked out for each form and not for each of its tasks
       CROSS JOIN LATERAL (SELECT before + no - 1 AS n, no = 1 AS is_first, input
                             FROM jsonb_array_elements(inputs::jsonb) WITH ORDINALITY AS g (input, no)) AS e
    ), new_task AS (
      INSERT INTO signalbox.task
             (id, run_id, kind, title, input, priority, run_at, version, resources, policy, gated, created_at,
              queue, concurrency_key, rate, tags, out_of_order)
      SELECT task_id, ${runId}::uuid, kind, title, input, priority, run_at, version, resources, policy, gated, enqueued_at,
             queue, concurrency_key, rate, tags, out_of_order FROM given
    ), new_task_run AS (
      INSERT INTO signalbox.task_run
             (id, task_id, run_id, kind, queue, priority, attempt, gated, status, run_at, enqueued_at, available_at)
      SELECT task_run_id, task_id, ${runId}::uuid, kind, queue, priority, 1, gated, status, run_at, enqueued_at,
             CASE WHEN NOT gated THEN enqueued_at END FROM given
    ), new_waiting AS (
      INSERT INTO signalbox.waiting
             (task_run_id, task_id, run_id, kind, queue, priority, enqueued_at, run_at, version, resources,
              concurrency_key, rate, out_of_order, blocked_on, blocked_key, blocked_since)
      SELECT task_run_id, task_id, ${runId}::uuid, kind, queue, priority, enqueued_at, run_at, version, resources,
             concurrency_key, rate, out_of_order,
             -- Its run time lies ahead, or a smaller version comes with it: parked without a pass that would find out just that.
             gate, CASE gate WHEN 'RUN_AT' THEN '' WHEN 'VERSION_ORDER' THEN behind END,
             CASE WHEN gate IS NOT NULL THEN enqueued_at END
        FROM given
       WHERE gated
    ), new_ready AS (
      INSERT INTO signalbox.ready (kind, queue, priority, available_at, task_run_id, rules_no)
      SELECT kind, queue, priority, enqueued_at, task_run_id, rules_no FROM given WHERE NOT gated
    ), new_stop AS (
      INSERT INTO signalbox.stop (task_id, code, detail)
      SELECT task_id, s.code, s.detail
        FROM given CROSS JOIN LATERAL jsonb_to_recordset(stops::jsonb) AS s (code text, detail text)
       WHERE stops IS NOT NULL
    ), new_version AS (
      INSERT INTO signalbox.open_version (name, version, task_run_id)
      SELECT r.name, version, task_run_id
        FROM given CROSS JOIN LATERAL jsonb_to_recordset(resources) AS r (name text)
       WHERE version IS NOT NULL
    )
    SELECT task_id AS "firstTaskId", task_run_id AS "firstTaskRunId", status,
           CASE WHEN ${notifies} AND (SELECT pg_notification_queue_usage()) < ${NEARLY_FULL}
                THEN pg_notify(CASE WHEN gated THEN 'signalbox_gate' ELSE 'signalbox_ready' END, '') END AS told
      FROM given
     WHERE is_first
     ORDER BY task_id
  `;
}

function withQueueTimeout(
  inserted: readonly InsertedTaskRun[],
  tasks: readonly ResolvedTask[],
): readonly { readonly taskRunId: TaskRunId; readonly queuedMs: number }[] {
  const bounded: { readonly taskRunId: TaskRunId; readonly queuedMs: number }[] = [];
  for (const [index, { taskRunId }] of inserted.entries()) {
    const queuedMs = tasks[index]?.policy.timeouts?.queuedMs;
    if (queuedMs !== undefined) bounded.push({ taskRunId, queuedMs });
  }
  return bounded;
}

/** Which of these rates nobody has set. */
export async function findUnknownRates(
  tx: Transaction,
  rates: readonly string[],
): Promise<readonly string[]> {
  if (rates.length === 0) return [];
  const rows = await tx.query(
    sql<{ name: string }>("findUnknownRates")`
      SELECT g.name
        FROM unnest(${rates}::text[]) AS g (name)
       WHERE NOT EXISTS (SELECT FROM signalbox.rate WHERE rate.name = g.name)
    `,
  );
  return rows.map(({ name }) => name);
}

export async function insertRun(
  tx: Transaction,
  run: { readonly title: string; readonly limit: number; readonly tasks: number },
): Promise<RunId> {
  const [row] = await tx.query(
    sql<{ runId: string }>("insertRun")`
      INSERT INTO signalbox.run (id, title, task_limit, open_tasks)
      VALUES (signalbox.new_id(), ${run.title}, ${run.limit}, ${run.tasks})
      RETURNING id AS "runId"
    `,
  );
  if (row === undefined) throw new Error("insertRun returned no row");
  return asRunId(row.runId);
}
