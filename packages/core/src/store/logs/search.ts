import type { TaskRunId } from "../../domain/ids.ts";
import type { LogStream } from "../../domain/log.ts";
import { createLogSearcher, type LogSearch, type LogSearchOptions } from "../../domain/log-search.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** Chunks that are in memory at once; each has up to 64 kB. */
const BITE = 100;

/** The whole log, a bite at a time; in a snapshot, so that no bytes are left out meanwhile. */
export async function searchLog(
  tx: Transaction,
  taskRunId: TaskRunId,
  options: Required<LogSearchOptions>,
): Promise<LogSearch> {
  const searcher = createLogSearcher(options);
  const ended = await hasEnded(tx, taskRunId);
  let from = 0;
  for (let goesOn = true; goesOn; ) {
    const chunks = await readChunks(tx, taskRunId, from);
    from = chunks.at(-1)?.endOffset ?? from;
    goesOn = searcher.read(chunks) && chunks.length === BITE;
  }
  return { taskRunId, ...searcher.found(), ended };
}

async function hasEnded(tx: Transaction, taskRunId: TaskRunId): Promise<boolean> {
  const [row] = await tx.query(
    sql<{ ended: boolean }>("hasTaskRunEnded")`
      SELECT status IN ('DONE', 'FAILED', 'CANCELED') AS ended FROM signalbox.task_run WHERE id = ${taskRunId}
    `,
  );
  // No row: the task run was pruned, and its log with it.
  return row?.ended ?? true;
}

async function readChunks(tx: Transaction, taskRunId: TaskRunId, from: number) {
  const rows = await tx.query(
    sql<{ stream: LogStream; text: string; at: Date; startOffset: string; endOffset: string }>(
      "readLogChunks",
    )`
      SELECT stream, text, at, start_offset AS "startOffset", end_offset AS "endOffset"
        FROM signalbox.log_chunk
       WHERE task_run_id = ${taskRunId} AND start_offset >= ${from}
       ORDER BY start_offset
       LIMIT ${BITE}
    `,
  );
  return rows.map(({ startOffset, endOffset, ...chunk }) => ({
    ...chunk,
    startOffset: Number(startOffset),
    endOffset: Number(endOffset),
  }));
}
