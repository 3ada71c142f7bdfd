import type { Pool } from "../store/database.ts";
import { type CancelRequest, cancelTaskRun, newestTaskRun } from "../store/task-runs/cancel.ts";
import { findTaskRun } from "../store/task-runs/find.ts";

/** Takes the id of a task or a task run. Of a task, whatever attempt is open when the answer is given. */
export async function cancelOnce(
  pool: Pool,
  id: string,
  request: CancelRequest,
): Promise<"canceled" | "canceling" | "ended"> {
  const found = await findTaskRun(pool, id);
  for (;;) {
    const answer = await pool.transaction(async (tx) => {
      const newest = found.byTask ? await newestTaskRun(tx, found.taskId) : null;
      const taskRun = newest === null ? found : { ...found, ...newest };
      const said = await cancelTaskRun(tx, taskRun, request);
      if (said !== "ended" || !found.byTask) return said;
      // It ended under our hands, and its end may have brought a new attempt: that one is meant too.
      const now = await newestTaskRun(tx, found.taskId);
      return now?.open === true ? null : said;
    });
    if (answer !== null) return answer;
  }
}
