import { partsOf, type WindowScope } from "../../domain/scope.ts";
import { wakeWindow } from "../../domain/wake.ts";
import type { Window } from "../../domain/window.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";
import { outdateReady } from "./queue.ts";
import { beginRecall } from "./recall.ts";

/**
 * Replaces all windows of a scope. Whatever is AVAILABLE there is judged again by the new ones: of a queue it cannot be
 * claimed before, of a resource the recall sends it back.
 */
export async function changeWindows(
  tx: Transaction,
  scope: WindowScope,
  windows: readonly Window[],
): Promise<void> {
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
  await (over === "queue" ? outdateReady(tx, name) : beginRecall(tx, scope, "WINDOW"));
  await wakeGates(tx, [wakeWindow(scope)]);
}
