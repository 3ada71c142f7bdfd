import type { TaskRunId } from "../../domain/ids.ts";
import { partsOf, type WindowScope } from "../../domain/scope.ts";
import { wakeWindow } from "../../domain/wake.ts";
import type { Window } from "../../domain/window.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";
import { demoteTaskRuns, findHolders } from "../task-runs/demote.ts";
import { outdateReady } from "./queue.ts";

/**
 * Replaces all windows of a scope. Whatever is AVAILABLE there is judged again by the new ones. Answers whom it has sent
 * back: of a queue nobody yet.
 */
export async function changeWindows(
  tx: Transaction,
  scope: WindowScope,
  windows: readonly Window[],
): Promise<readonly TaskRunId[]> {
  const { over, name } = partsOf(scope);
  await takeGateLock(tx);
  await takeClaimLock(tx);
  await tx.query(
    sql("changeWindows")`
      WITH changed AS (
        INSERT INTO signalbox.start_window AS w (over, name, windows)
        VALUES (${over}, ${name}, ${JSON.stringify(windows)}::text::jsonb)
            ON CONFLICT (over, name) DO UPDATE SET windows = excluded.windows, row_version = w.row_version + 1
        RETURNING windows, row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'window', md5('window:' || ${scope})::uuid, row_version, 'windows.changed',
             jsonb_build_object('scope', ${scope}::text, 'windows', windows)
        FROM changed
    `,
  );
  if (over === "queue") await outdateReady(tx, name);
  const holders = over === "queue" ? [] : await findHolders(tx, scope);
  const demoted = await demoteTaskRuns(tx, holders, "WINDOW");
  await wakeGates(tx, [wakeWindow(scope)]);
  return demoted;
}
