/** What `explain` reads beside the gates' own view: who the blockers are, places in line, who could claim. */

import type { Blocker, ClaimableBy } from "../../domain/explanation.ts";
import {
  asInstanceId,
  asTaskId,
  asTaskRunId,
  type InstanceId,
  type TaskId,
  type TaskRunId,
} from "../../domain/ids.ts";
import type { LinePlace } from "../../domain/line.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { LimitScope } from "../../domain/scope.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { JobView, ReadyView } from "../../domain/unattended.ts";
import type { Parking } from "../../domain/waiting-cause.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** Nobody reads further than this, and counting a line of a million would be slow. */
const COUNTED_AT_MOST = 1_000;

export async function readClock(db: Database): Promise<Date> {
  const [row] = await db.query(preparedSql<{ now: Date }>("readClock")`SELECT clock_timestamp() AS now`);
  if (row === undefined) throw new Error("readClock returned no row");
  return row.now;
}

export async function loadBlockers(
  db: Database,
  taskRunIds: readonly TaskRunId[],
): Promise<ReadonlyMap<TaskRunId, Blocker>> {
  if (taskRunIds.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<{
      taskRunId: string;
      taskId: string;
      title: string;
      status: TaskRunStatus;
      instanceName: string | null;
      since: Date;
    }>("loadBlockers")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", k.title, t.status,
             (SELECT name FROM signalbox.instance WHERE boot_id = t.claimed_by) AS "instanceName",
             coalesce(t.finished_at, t.claimed_at, t.available_at, t.enqueued_at) AS since
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.id = ANY (${taskRunIds}::uuid[])
    `,
  );
  return new Map(
    rows.map((row) => {
      const taskRunId = asTaskRunId(row.taskRunId);
      return [taskRunId, { ...row, taskRunId, taskId: asTaskId(row.taskId) }];
    }),
  );
}

/** The newest task run of each task, for a resource that is kept for one. */
export async function newestOf(
  db: Database,
  taskIds: readonly TaskId[],
): Promise<ReadonlyMap<TaskId, TaskRunId>> {
  if (taskIds.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<{ taskId: string; taskRunId: string }>("newestTaskRunOf")`
      SELECT DISTINCT ON (task_id) task_id AS "taskId", id AS "taskRunId"
        FROM signalbox.task_run
       WHERE task_id = ANY (${taskIds}::uuid[])
       ORDER BY task_id, attempt DESC
    `,
  );
  return new Map(rows.map((row) => [asTaskId(row.taskId), asTaskRunId(row.taskRunId)]));
}

/** Some of the task runs that take up the slots of a limit. */
export async function holdersOf(
  db: Database,
  scope: LimitScope,
  limit: number,
): Promise<readonly TaskRunId[]> {
  const rows = await db.query(
    preparedSql<{ taskRunId: string }>("holdersOf")`
      SELECT task_run_id AS "taskRunId"
        FROM signalbox.hold
       WHERE scope = ${scope} AND task_run_id IS NOT NULL
       ORDER BY slot
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

/**
 * Counted from the place towards the front, and from the end: the bound is soon reached there, while those that have left a line
 * from its front are passed over until they are cleared away.
 */
export interface PlaceInLine {
  /** 1 is next. */
  readonly position: number;
  readonly lineLength: number;
}

export async function placeAtResource(
  db: Database,
  name: ResourceName,
  place: LinePlace,
): Promise<PlaceInLine> {
  const [row] = await db.query(
    preparedSql<{ ahead: string; others: string }>("placeAtResource")`
      SELECT (SELECT count(*)
                FROM (SELECT FROM signalbox.line
                       WHERE name = ${name}
                         AND (priority, enqueued_at, task_run_id)
                             < (${place.priority}::smallint,
                                to_timestamp(0) + ${place.enqueuedUs}::bigint * interval '1 microsecond',
                                ${place.taskRunId}::uuid)
                       ORDER BY priority DESC, enqueued_at DESC, task_run_id DESC
                       LIMIT ${COUNTED_AT_MOST}) AS ahead) AS ahead,
             (SELECT count(*)
                FROM (SELECT FROM signalbox.line
                       WHERE name = ${name} AND task_run_id <> ${place.taskRunId}
                       ORDER BY priority DESC, enqueued_at DESC, task_run_id DESC
                       LIMIT ${COUNTED_AT_MOST}) AS others) AS others
    `,
  );
  return toPlace(row);
}

/** Among those parked under the same key. */
export async function placeAtGate(
  db: Database,
  { blockedOn, blockedKey }: Parking,
  place: LinePlace,
): Promise<PlaceInLine> {
  const [row] = await db.query(
    preparedSql<{ ahead: string; others: string }>("placeAtGate")`
      SELECT (SELECT count(*)
                FROM (SELECT FROM signalbox.waiting
                       WHERE blocked_on = ${blockedOn} AND blocked_key = ${blockedKey}
                         AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
                         AND (priority, enqueued_at, task_run_id)
                             < (${place.priority}::smallint,
                                to_timestamp(0) + ${place.enqueuedUs}::bigint * interval '1 microsecond',
                                ${place.taskRunId}::uuid)
                       ORDER BY priority DESC, enqueued_at DESC, task_run_id DESC
                       LIMIT ${COUNTED_AT_MOST}) AS ahead) AS ahead,
             (SELECT count(*)
                FROM (SELECT FROM signalbox.waiting
                       WHERE blocked_on = ${blockedOn} AND blocked_key = ${blockedKey}
                         AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
                         AND task_run_id <> ${place.taskRunId}
                       ORDER BY priority DESC, enqueued_at DESC, task_run_id DESC
                       LIMIT ${COUNTED_AT_MOST}) AS others) AS others
    `,
  );
  return toPlace(row);
}

function toPlace(row: { ahead: string; others: string } | undefined): PlaceInLine {
  return { position: Number(row?.ahead ?? 0) + 1, lineLength: Number(row?.others ?? 0) + 1 };
}

/** Live instances that know the kind, with how busy they are. What they only poll takes no slot. */
export async function findClaimers(db: Database, kind: string): Promise<readonly ClaimableBy[]> {
  const rows = await db.query(
    preparedSql<Omit<ClaimableBy, "instanceId"> & { instanceId: string }>("findClaimers")`
      SELECT i.boot_id AS "instanceId", i.name, i.slots, own.running,
             greatest(i.slots - own.running, 0) AS "freeSlots"
        FROM signalbox.instance AS i
       CROSS JOIN LATERAL (
             SELECT count(*)::integer AS running
               FROM signalbox.claim_batch AS b
              CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
               JOIN signalbox.task_run AS t ON t.id = g.id
              WHERE b.instance_id = i.boot_id AND t.status = 'RUNNING' AND t.claim_no = b.claim_no
                AND t.claimed_by = i.boot_id AND t.let_go_at IS NULL) AS own
       WHERE i.state = 'LIVE' AND i.expires_at > clock_timestamp() AND ${kind} = ANY (i.kinds)
       ORDER BY i.name
    `,
  );
  return rows.map((row) => ({ ...row, instanceId: asInstanceId(row.instanceId) }));
}

/** As a claim finds it; null: none would. */
export async function readReady(db: Database, taskRunId: TaskRunId): Promise<ReadyView | null> {
  const [row] = await db.query(
    preparedSql<ReadyView>("readReady")`
      SELECT r.rules_no <> coalesce(q.rules_no, 0) AS outdated,
             CASE WHEN r.open_until <= clock_timestamp() THEN r.open_until END AS "closedAt"
        FROM signalbox.ready AS r
        LEFT JOIN signalbox.queue AS q ON q.name = r.queue
       WHERE r.ctid = ANY (ARRAY(SELECT place FROM signalbox.ready_of(ARRAY[${taskRunId}::uuid]) AS place))
    `,
  );
  return row ?? null;
}

/** As a poller finds it; null: none would. */
export async function readOutsideJob(db: Database, taskRunId: TaskRunId): Promise<JobView | null> {
  const [row] = await db.query(
    preparedSql<JobView>("readOutsideJob")`
      SELECT j.next_poll_at AS "pollAt", j.deadline,
             EXISTS (SELECT FROM signalbox.instance
                      WHERE state = 'LIVE' AND expires_at > clock_timestamp() AND j.kind = ANY (kinds)) AS served
        FROM signalbox.outside_job AS j
       WHERE j.task_run_id = ${taskRunId} AND j.next_poll_at < 'infinity'
    `,
  );
  return row ?? null;
}

export interface Owner {
  readonly instanceId: InstanceId;
  readonly name: string;
  readonly leaseUntil: Date;
  readonly isLost: boolean;
}

export async function readOwner(db: Database, instanceId: InstanceId): Promise<Owner | null> {
  const [row] = await db.query(
    preparedSql<Omit<Owner, "instanceId">>("readOwner")`
      SELECT name, expires_at AS "leaseUntil", state = 'DEAD' OR expires_at <= clock_timestamp() AS "isLost"
        FROM signalbox.instance
       WHERE boot_id = ${instanceId}
    `,
  );
  return row === undefined ? null : { instanceId, ...row };
}
