/** Instances as callers see them. */

import { asInstanceId, asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import type { InstanceDetail, InstanceList } from "../../domain/instance-view.ts";
import type { InstanceView } from "../../domain/task-run.ts";
import type { Database, Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import { readClock } from "../task-runs/explain.ts";
import { loadTaskRuns } from "../task-runs/read.ts";

export interface ReadInstance {
  readonly view: InstanceView;
  /** What it only asks about: it takes up no slot. */
  readonly polls: number;
}

/** All that live, and for ten minutes those that died; or one, for as long as it is remembered. */
export async function readInstances(
  db: Database,
  only: InstanceId | null = null,
): Promise<readonly ReadInstance[]> {
  const rows = await db.query(
    sql<InstanceRow>("readInstances")`
      SELECT i.boot_id AS "instanceId", i.name, i.state, i.kinds, i.slots, own.running, own.polls,
             i.started_at AS "startedAt", i.beat_at AS "beatAt", i.expires_at AS "leaseUntil", i.left_at AS "leftAt",
             i.drain_requested_at AS "drainSince", i.drain_requested_by AS "drainBy", i.drain_reason AS "drainReason"
        FROM signalbox.instance AS i
       CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE t.let_go_at IS NULL)::integer AS running,
                    count(*) FILTER (WHERE t.let_go_at IS NOT NULL)::integer AS polls
               FROM signalbox.claim_batch AS b
              CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
               JOIN signalbox.task_run AS t ON t.id = g.id
              WHERE b.instance_id = i.boot_id AND t.status = 'RUNNING' AND t.claim_no = b.claim_no
                AND t.claimed_by = i.boot_id) AS own
       WHERE CASE WHEN ${only}::uuid IS NULL
                  THEN i.state <> 'DEAD' OR i.beat_at > clock_timestamp() - interval '10 minutes'
                  ELSE i.boot_id = ${only}::uuid END
       ORDER BY i.started_at, i.boot_id
    `,
  );
  return rows.map(({ polls, drainSince, drainBy, drainReason, ...row }) => ({
    polls,
    view: {
      ...row,
      instanceId: asInstanceId(row.instanceId),
      drainRequest: drainSince === null ? null : { since: drainSince, by: drainBy, reason: drainReason },
    },
  }));
}

type InstanceRow = Omit<InstanceView, "instanceId" | "drainRequest"> & {
  readonly instanceId: string;
  readonly polls: number;
  readonly drainSince: Date | null;
  readonly drainBy: string | null;
  readonly drainReason: string | null;
};

export async function listInstances(tx: Transaction): Promise<InstanceList> {
  const computedAt = await readClock(tx);
  const instances = await readInstances(tx);
  return { computedAt, instances: instances.map(({ view }) => view) };
}

/** Null: there is no such instance, or it is forgotten. */
export async function readInstance(
  tx: Transaction,
  instanceId: InstanceId,
  most: number,
): Promise<InstanceDetail | null> {
  const computedAt = await readClock(tx);
  const [found] = await readInstances(tx, instanceId);
  if (found === undefined) return null;
  const ids = await findClaimed(tx, instanceId, most + 1);
  return {
    ...found.view,
    computedAt,
    taskRuns: await loadTaskRuns(tx, ids.slice(0, most)),
    cut: ids.length > most,
  };
}

async function findClaimed(
  tx: Transaction,
  instanceId: InstanceId,
  limit: number,
): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("findClaimedBy")`
      SELECT t.id AS "taskRunId"
        FROM signalbox.claim_batch AS b
       CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
        JOIN signalbox.task_run AS t ON t.id = g.id
       WHERE b.instance_id = ${instanceId} AND t.status = 'RUNNING' AND t.claim_no = b.claim_no
         AND t.claimed_by = ${instanceId}
       ORDER BY t.id DESC
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}
