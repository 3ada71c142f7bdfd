import type { Asked } from "../../domain/asked.ts";
import { type PauseScope, partsOf } from "../../domain/scope.ts";
import { wakePaused } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";
import { outdateReady } from "./queue.ts";
import { beginRecall } from "./recall.ts";

/**
 * Nothing of this scope becomes AVAILABLE after the commit; what runs goes on. Of a queue nothing is claimed any more
 * either; of a run or a resource when its recall is over. False: it was paused before.
 */
export async function pauseScope(tx: Transaction, scope: PauseScope, asked: Asked): Promise<boolean> {
  const { over, name } = partsOf(scope);
  await takeGateLock(tx);
  // A run's task runs become AVAILABLE only by a pass; those of a queue are claimed, and of a resource handed on, without one.
  if (over !== "run") await takeClaimLock(tx);
  if (!(await writePause(tx, scope, true, asked))) return false;
  await (over === "queue" ? outdateReady(tx, name) : beginRecall(tx, scope, "PAUSED"));
  return true;
}

/** False: it was not paused. */
export async function resumeScope(tx: Transaction, scope: PauseScope, asked: Asked): Promise<boolean> {
  await takeGateLock(tx);
  if (!(await writePause(tx, scope, false, asked))) return false;
  await wakeGates(tx, [wakePaused(scope)]);
  return true;
}

async function writePause(
  tx: Transaction,
  scope: PauseScope,
  paused: boolean,
  { by, reason }: Asked,
): Promise<boolean> {
  const { over, name } = partsOf(scope);
  const rows = await tx.query(
    sql("writePause")`
      WITH changed AS (
        INSERT INTO signalbox.pause AS p (over, name, paused, changed_by, reason)
        SELECT ${over}, ${name}, true, ${by}, ${reason} WHERE ${paused}
            OR EXISTS (SELECT FROM signalbox.pause WHERE over = ${over} AND name = ${name})
            ON CONFLICT (over, name) DO UPDATE
           SET paused = ${paused}, since = clock_timestamp(), changed_by = ${by}, reason = ${reason},
               row_version = p.row_version + 1
         WHERE p.paused <> ${paused}
        RETURNING row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'pause', md5('pause:' || ${scope})::uuid, row_version,
             CASE WHEN ${paused} THEN 'scope.paused' ELSE 'scope.resumed' END,
             jsonb_build_object('scope', ${scope}::text, 'by', ${by}::text, 'reason', ${reason}::text)
        FROM changed
      RETURNING aggregate_id
    `,
  );
  return rows.length > 0;
}
