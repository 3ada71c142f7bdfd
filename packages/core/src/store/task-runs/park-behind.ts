import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";

/**
 * Parks new task runs that stand behind a smaller version, without a look at all their other gates: where many come at once, most
 * of them do. Only where no gate before VERSION_ORDER could say no. Answers which; a look would have come to the same. Under the
 * gate lock.
 */
export async function parkBehindVersions(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
): Promise<ReadonlySet<TaskRunId>> {
  if (taskRunIds.length === 0) return new Set();
  const rows = await tx.query(
    preparedSql<{ taskRunId: string }>("parkBehindVersions")`
      UPDATE signalbox.waiting AS w
         SET blocked_on = 'VERSION_ORDER', blocked_key = w.resources->0->>'name', blocked_since = clock_timestamp()
       WHERE w.task_run_id = ANY (${taskRunIds}::uuid[])
         -- As good as blocked_on IS NULL, by a CHECK; for that the server would go through the index of all that are new.
         AND w.blocked_since IS NULL AND w.version IS NOT NULL
         AND w.priority >= 0                 -- not one that goes on after a loss: it passes this gate
         AND jsonb_array_length(w.resources) = 1
         AND w.kind = ANY (ARRAY(SELECT unnest(kinds) FROM signalbox.instance
                                  WHERE state = 'LIVE' AND expires_at > clock_timestamp()))
         AND NOT (SELECT EXISTS (SELECT FROM signalbox.pause WHERE paused))
         AND NOT (SELECT EXISTS (SELECT FROM signalbox.start_window WHERE windows <> '[]'))
         AND (SELECT version FROM signalbox.open_version AS o
               WHERE o.name = w.resources->0->>'name' ORDER BY version LIMIT 1) < w.version
         AND (SELECT version FROM signalbox.done_version AS d WHERE d.name = w.resources->0->>'name') > w.version IS NOT TRUE
         AND (SELECT stop.task_id FROM signalbox.stop WHERE stop.task_id = w.task_id LIMIT 1) IS NULL
      RETURNING w.task_run_id AS "taskRunId"
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}
