import type { TaskRunId } from "../../domain/ids.ts";
import type { LogEntry, LogPage, LogStream } from "../../domain/log.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

interface ChunkRow {
  readonly ended: boolean;
  readonly stream: LogStream | null;
  readonly text: string;
  readonly at: Date;
  readonly startOffset: string;
  readonly endOffset: string;
}

/**
 * Whole chunks from an offset on. One statement, so that the status and the chunks are of one moment: a log is
 * complete before its task run ends.
 */
export async function readLog(
  db: Database,
  taskRunId: TaskRunId,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<LogPage> {
  const rows = await db.query(
    sql<ChunkRow>("readLog")`
      SELECT t.status IN ('DONE', 'FAILED', 'CANCELED') AS ended, c.stream, c.text, c.at, c.start_offset AS "startOffset", c.end_offset AS "endOffset"
        FROM signalbox.task_run AS t
        LEFT JOIN LATERAL (
             SELECT * FROM signalbox.log_chunk
              WHERE task_run_id = t.id AND start_offset >= ${from}
              ORDER BY start_offset
              LIMIT ${limit + 1}) AS c ON true
       WHERE t.id = ${taskRunId}
       ORDER BY c.start_offset
    `,
  );
  const chunks = rows.filter(({ stream }) => stream !== null);
  const entries: LogEntry[] = [];
  let next = from;
  for (const { stream, text, at, startOffset, endOffset } of chunks.slice(0, limit)) {
    const offset = Number(startOffset);
    entries.push({ stream: stream ?? "system", text, at, offset, leftOutBytes: offset - next });
    next = Number(endOffset);
  }
  // No row: the task run was pruned, and its log with it.
  const ended = rows[0]?.ended ?? true;
  return { taskRunId, entries, next, ended: ended && chunks.length <= limit };
}
