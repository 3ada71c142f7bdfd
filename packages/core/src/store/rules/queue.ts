import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import { type QueueName, queueScope } from "../../domain/scope.ts";
import { wakeQueue } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

export interface QueueChange {
  /** 0: unlimited. */
  readonly limit?: number | undefined;
  readonly weight?: number | undefined;
}

/**
 * In force for every promotion and every claim that begins after the commit. Where a queue gets its first limit, what
 * runs already takes slots, and what is AVAILABLE cannot be claimed before it was judged again.
 */
export async function changeQueue(tx: Transaction, name: QueueName, change: QueueChange): Promise<void> {
  await takeGateLock(tx);
  const before = await readQueue(tx, name);
  const limit = change.limit ?? before.limit;
  const introduced = before.limit === 0 && limit > 0;
  if (introduced) await takeClaimLock(tx);
  await tx.query(
    sql("changeQueue")`
      WITH changed AS (
        INSERT INTO signalbox.queue AS q (name, slot_limit, weight, rules_no)
        VALUES (${name}, ${limit}, ${change.weight ?? before.weight}, ${introduced ? 1 : 0})
            ON CONFLICT (name) DO UPDATE
           SET slot_limit = excluded.slot_limit, weight = excluded.weight,
               rules_no = q.rules_no + excluded.rules_no, row_version = q.row_version + 1
        RETURNING row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'queue', md5('queue:' || ${name})::uuid, row_version, 'queue.changed',
             jsonb_build_object('queue', ${name}::text, 'from', ${before.limit}::integer, 'to', ${limit}::integer,
                                'weight', ${change.weight ?? before.weight}::integer)
        FROM changed
    `,
  );
  if (introduced) await holdForRunning(tx, name);
  await wakeGates(tx, [wakeQueue(name)]);
}

async function readQueue(
  tx: Transaction,
  name: QueueName,
): Promise<{ readonly limit: number; readonly weight: number }> {
  const [row] = await tx.query(
    sql<{ limit: number; weight: number }>("readQueue")`
      SELECT slot_limit AS "limit", weight FROM signalbox.queue WHERE name = ${name}
    `,
  );
  return row ?? { limit: 0, weight: 1 };
}

/** What is AVAILABLE in this queue must be judged again before it may be claimed. After the claim lock. */
export async function outdateReady(tx: Transaction, name: QueueName): Promise<void> {
  await tx.query(
    sql("outdateReady")`
      INSERT INTO signalbox.queue AS q (name, rules_no) VALUES (${name}, 1)
          ON CONFLICT (name) DO UPDATE SET rules_no = q.rules_no + 1, row_version = q.row_version + 1
    `,
  );
}

/** Those that were claimed before there was a limit count against it too, until they end. */
async function holdForRunning(tx: Transaction, name: QueueName): Promise<void> {
  const running = await markRunning(tx, name);
  if (running.length === 0) return;
  await tx.query(
    sql("holdForRunning")`
      INSERT INTO signalbox.hold (scope, slot, task_run_id)
      SELECT ${queueScope(name)}, used.top + row_number() OVER (ORDER BY g.id), g.id
        FROM unnest(${running}::uuid[]) AS g (id)
       CROSS JOIN (SELECT coalesce(max(slot), -1) AS top FROM signalbox.hold WHERE scope = ${queueScope(name)}) AS used
       WHERE NOT EXISTS (SELECT FROM signalbox.hold WHERE scope = ${queueScope(name)} AND task_run_id = g.id)
    `,
  );
}

/** Their ends must give something back from now on, which an ungated task run's end does not look for. */
async function markRunning(tx: Transaction, name: QueueName): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("markRunningInQueue")`
      UPDATE signalbox.task_run
         SET gated = true, row_version = row_version + 1
       WHERE id = ANY (ARRAY(SELECT t.id
                               FROM (SELECT unnest(task_run_ids) FROM signalbox.claim_batch
                                     UNION                 -- what was let go is in no batch
                                     SELECT task_run_id FROM signalbox.outside_job) AS g (id)
                               JOIN signalbox.task_run AS t ON t.id = g.id
                              WHERE t.status = 'RUNNING' AND t.queue = ${name}
                              ORDER BY t.id
                                FOR UPDATE OF t))
         AND status = 'RUNNING'
      RETURNING id AS "taskRunId"
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}
