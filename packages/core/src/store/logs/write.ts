import { asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import { LOG_HEAD_BYTES, LOG_TAIL_BYTES, type LogStream } from "../../domain/log.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

export interface LogChunk {
  /** In bytes as they were printed, from the first one of this claim. */
  readonly start: number;
  readonly end: number;
  readonly stream: LogStream;
  readonly text: string;
}

/** Chunks with the claim in whose name they are written. */
export interface LogWrite {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
  readonly chunks: readonly LogChunk[];
}

/**
 * Appends, many logs at once, each fenced by its claim number and its owner. The row is locked, so that a claim that
 * ends at this moment ends before or after, not between. What is missing in the answer is not ours any more.
 */
export async function writeLogs(
  tx: Transaction,
  writes: readonly LogWrite[],
): Promise<ReadonlySet<TaskRunId>> {
  const chunks = writes.flatMap((write) => write.chunks.map((chunk) => ({ ...chunk, id: write.taskRunId })));
  const rows = await tx.query(
    sql<{ taskRunId: string; firstOffset: string }>("writeLogs")`
      WITH fenced AS (
        SELECT t.id, t.claim_no
          FROM unnest(${writes.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${writes.map(({ claimNo }) => claimNo)}::bigint[],
                      ${writes.map(({ claimedBy }) => claimedBy)}::uuid[]) AS g (id, claim_no, claimed_by)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by
           AND t.status = 'RUNNING'
         ORDER BY t.id
           FOR SHARE OF t
      ), placed AS (                    -- a later claim of the same task run goes on behind the one before
        SELECT f.id, f.claim_no,
               COALESCE((SELECT c.start_offset FROM signalbox.log_chunk AS c
                          WHERE c.task_run_id = f.id AND c.claim_no = f.claim_no ORDER BY c.start_offset LIMIT 1),
                        (SELECT c.end_offset FROM signalbox.log_chunk AS c
                          WHERE c.task_run_id = f.id ORDER BY c.start_offset DESC LIMIT 1),
                        0) AS first_offset
          FROM fenced AS f
      ), written AS (
        INSERT INTO signalbox.log_chunk (task_run_id, start_offset, end_offset, claim_no, stream, text)
        SELECT p.id, p.first_offset + g.start_at, p.first_offset + g.end_at, p.claim_no, g.stream, g.text
          FROM unnest(${chunks.map(({ id }) => id)}::uuid[],
                      ${chunks.map(({ start }) => start)}::bigint[],
                      ${chunks.map(({ end }) => end)}::bigint[],
                      ${chunks.map(({ stream }) => stream)}::text[],
                      ${chunks.map(({ text }) => text)}::text[]) AS g (id, start_at, end_at, stream, text)
          JOIN placed AS p ON p.id = g.id
            ON CONFLICT (task_run_id, start_offset) DO NOTHING   -- stored before, by a commit whose answer was lost
      )
      SELECT id AS "taskRunId", first_offset AS "firstOffset" FROM placed
    `,
  );
  await leaveOut(
    tx,
    rows.map(({ taskRunId, firstOffset }) => {
      const ends = chunks.filter(({ id }) => id === taskRunId).map(({ end }) => end);
      const first = Number(firstOffset);
      return { taskRunId, first, below: first + Math.max(0, ...ends) - LOG_TAIL_BYTES };
    }),
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}

/**
 * Of a long log the middle goes: chunks that are neither of its beginning nor of its end. The first chunk of the claim
 * that writes stays while it writes: the next write, and one sent again, finds by it where the claim's bytes begin.
 */
async function leaveOut(
  tx: Transaction,
  logs: readonly { readonly taskRunId: string; readonly first: number; readonly below: number }[],
): Promise<void> {
  const long = logs.filter(({ below }) => below > LOG_HEAD_BYTES);
  if (long.length === 0) return;
  await tx.query(
    sql("leaveOutOfLogs")`
      DELETE FROM signalbox.log_chunk AS c
       USING unnest(${long.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${long.map(({ first }) => first)}::bigint[],
                    ${long.map(({ below }) => below)}::bigint[]) AS g (id, first_offset, below)
       WHERE c.task_run_id = g.id AND c.start_offset <> g.first_offset
         AND c.start_offset >= ${LOG_HEAD_BYTES} AND c.start_offset < g.below AND c.end_offset <= g.below
    `,
  );
}
