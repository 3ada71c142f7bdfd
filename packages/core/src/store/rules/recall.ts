/**
 * Sends back, in bites, what is AVAILABLE under a rule of a run or a resource that has changed. What is left to do is a row,
 * written with the rule: whoever comes to it goes on, also after the death of whoever changed the rule.
 */

import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { PauseScope } from "../../domain/scope.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import { type DemotionCause, demoteTaskRuns } from "../task-runs/demote.ts";

/**
 * In the transaction that changes the rule, under the gate lock: whoever takes a slot behind the last one is judged by the
 * new rule. One that is under way begins again at the front.
 */
export async function beginRecall(
  tx: Transaction,
  scope: PauseScope,
  because: Extract<DemotionCause, "PAUSED" | "WINDOW">,
): Promise<void> {
  await tx.query(
    sql("beginRecall")`
      INSERT INTO signalbox.recall (scope, because, to_slot)
      SELECT ${scope}, ${because}, coalesce(max(slot), -1) FROM signalbox.hold WHERE scope = ${scope}
          ON CONFLICT (scope) DO UPDATE SET because = excluded.because, after_slot = -1, to_slot = excluded.to_slot
    `,
  );
}

export interface RecallBite {
  readonly demoted: readonly TaskRunId[];
  /** Nobody is left to be sent back. */
  readonly over: boolean;
}

const NOBODY_LEFT: RecallBite = { demoted: [], over: true };

/**
 * Of this scope, or of the one that has waited longest. Under the gate lock: only passes make a holder AVAILABLE, and since
 * the rule was written they judge by it. So nobody who came by the old rule stands before the slot that was reached.
 */
export async function recallBite(
  tx: Transaction,
  limit: number,
  scope: PauseScope | null,
): Promise<RecallBite> {
  const recall = await readRecall(tx, scope);
  if (recall === null) return NOBODY_LEFT;
  const holders = await findHolders(tx, recall, limit);
  const last = holders.at(-1);
  // Also those that run: they are in `ready` no more, and are left alone.
  const demoted = await demoteTaskRuns(
    tx,
    holders.map(({ taskRunId }) => taskRunId),
    recall.because,
  );
  const over = last === undefined || holders.length < limit;
  await (over ? endRecall(tx, recall.scope) : goOnAfter(tx, recall.scope, last.slot));
  return { demoted, over };
}

interface Recall {
  readonly scope: string;
  readonly because: DemotionCause;
  readonly afterSlot: number;
  readonly toSlot: number;
}

async function readRecall(tx: Transaction, scope: PauseScope | null): Promise<Recall | null> {
  const [row] = await tx.query(
    sql<Recall>("readRecall")`
      SELECT scope, because, after_slot AS "afterSlot", to_slot AS "toSlot"
        FROM signalbox.recall
       WHERE scope = coalesce(${scope}, scope)
       ORDER BY since
       LIMIT 1
    `,
  );
  return row ?? null;
}

export async function findHolders(
  tx: Transaction,
  { scope, afterSlot, toSlot }: Omit<Recall, "because">,
  limit: number,
): Promise<readonly { readonly taskRunId: TaskRunId; readonly slot: number }[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string; slot: number }>("findHolders")`
      SELECT task_run_id AS "taskRunId", slot
        FROM signalbox.hold
       WHERE scope = ${scope} AND slot > ${afterSlot} AND slot <= ${toSlot} AND task_run_id IS NOT NULL
       ORDER BY slot
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId, slot }) => ({ taskRunId: asTaskRunId(taskRunId), slot }));
}

async function goOnAfter(tx: Transaction, scope: string, slot: number): Promise<void> {
  await tx.query(sql("goOnAfter")`UPDATE signalbox.recall SET after_slot = ${slot} WHERE scope = ${scope}`);
}

/** Where it was for a pause that stands, nothing starts from here on: that is an event. */
async function endRecall(tx: Transaction, scope: string): Promise<void> {
  await tx.query(
    sql("endRecall")`
      WITH gone AS (
        DELETE FROM signalbox.recall WHERE scope = ${scope} RETURNING scope
      ), stands AS (
        UPDATE signalbox.pause SET row_version = row_version + 1
         WHERE (over, name) = (split_part(${scope}, ':', 1), substr(${scope}, strpos(${scope}, ':') + 1)) AND paused
        RETURNING row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'pause', md5('pause:' || scope)::uuid, row_version, 'scope.recalled', jsonb_build_object('scope', scope)
        FROM gone, stands
    `,
  );
}
