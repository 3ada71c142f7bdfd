/** What a statement that inserts many tasks answers: the first of each form, from which the others are counted on. */

import { asTaskId, asTaskRunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import { idsAfter } from "./counted-ids.ts";
import type { Form } from "./forms.ts";

export interface InsertedTaskRun {
  readonly taskId: TaskId;
  readonly taskRunId: TaskRunId;
  readonly status: "PENDING" | "AVAILABLE";
}

/** Of the first task of a form. The others have the ids that follow, and the same status. */
export interface InsertedRow {
  readonly firstTaskId: string;
  readonly firstTaskRunId: string;
  readonly status: "PENDING" | "AVAILABLE";
}

/** In the given order. */
export function toInserted(rows: readonly InsertedRow[], forms: readonly Form[]): readonly InsertedTaskRun[] {
  const inserted: InsertedTaskRun[] = [];
  for (const [index, { firstTaskId, firstTaskRunId, status }] of rows.entries()) {
    const count = forms[index]?.inputs.length ?? 0;
    const [taskId, taskRunId] = [idsAfter(firstTaskId), idsAfter(firstTaskRunId)];
    for (let after = 0; after < count; after += 1)
      inserted.push({ taskId: asTaskId(taskId(after)), taskRunId: asTaskRunId(taskRunId(after)), status });
  }
  return inserted;
}
