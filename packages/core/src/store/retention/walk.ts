/**
 * Where the pruner looks next. It walks along the ids of tasks, which rise with time, and never back: what it has to
 * leave behind is remembered by ranges of ids, each with what tells when it is worth to look there again.
 */

import { type KeepMs, type LeftBehind, shortestKeepMs } from "../../domain/retention.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** Any fixed number; "prun" as bytes. */
const PRUNE_LOCK = 0x7072756e;

/** One instance prunes at a time; two would only wait for each other. */
export async function tryPruneLock(tx: Transaction): Promise<boolean> {
  const [row] = await tx.query(
    sql<{ locked: boolean }>("tryPruneLock")`SELECT pg_try_advisory_xact_lock(${PRUNE_LOCK}) AS locked`,
  );
  return row?.locked === true;
}

/** From after one id up to and with another. */
export interface IdRange {
  readonly afterId: string;
  readonly toId: string;
  /** Left behind before, or new to the walk. */
  readonly isNew: boolean;
}

/** However short tasks are kept: an enqueue commits within this time, and what is open is not looked at more often. */
const SHORTEST_LOOK_MS = 3_600_000;
/** Tasks of a transaction that was open for longer came behind the walk, so it begins anew: what it left is all it meets. */
const WALK_AGAIN_MS = 2_592_000_000;

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Null: nothing is due now. */
export async function nextRange(tx: Transaction, keepMs: KeepMs): Promise<IdRange | null> {
  const lookMs = Math.max(shortestKeepMs(keepMs), SHORTEST_LOOK_MS);
  return (await dueRange(tx, keepMs, lookMs)) ?? (await newRange(tx, lookMs));
}

/** There is a row per bite that left something, so this reads one row where `task` has hundreds. */
async function dueRange(tx: Transaction, keepMs: KeepMs, lookMs: number): Promise<IdRange | null> {
  const [row] = await tx.query(
    sql<Omit<IdRange, "isNew">>("dueRange")`
      SELECT after_id AS "afterId", to_id AS "toId"
        FROM signalbox.retention_range
       WHERE oldest_done <= clock_timestamp() - ${finite(keepMs.DONE)}::float8 * interval '1 ms'
          OR oldest_failed <= clock_timestamp() - ${finite(keepMs.FAILED)}::float8 * interval '1 ms'
          OR oldest_canceled <= clock_timestamp() - ${finite(keepMs.CANCELED)}::float8 * interval '1 ms'
          OR open_seen_at <= clock_timestamp() - ${finite(lookMs)}::float8 * interval '1 ms'
       ORDER BY after_id
       LIMIT 1
    `,
  );
  return row === undefined ? null : { ...row, isNew: false };
}

/** NULL makes its condition false, as "for ever" should. */
function finite(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null;
}

async function newRange(tx: Transaction, lookMs: number): Promise<IdRange | null> {
  if (!Number.isFinite(lookMs)) return null;
  const [row] = await tx.query(
    sql<{ walkedTo: string; toId: string }>("readWalk")`
      SELECT coalesce(walk.walked_to, ${FIRST_ID}::uuid) AS "walkedTo",
             (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${Math.ceil(lookMs)}::bigint), 12, '0')
               || repeat('0', 20))::uuid AS "toId"
        FROM (VALUES (true)) AS this (one)
        LEFT JOIN signalbox.retention_walk AS walk ON walk.one = this.one
    `,
  );
  if (row === undefined) throw new Error("readWalk returned no row");
  return row.walkedTo < row.toId ? { afterId: row.walkedTo, toId: row.toId, isNew: true } : null;
}

/**
 * Remembers how far a bite went and what it left there. `reachedId` is where it stopped: the end of its range, or the last
 * task that it read.
 */
export async function rememberBite(
  tx: Transaction,
  range: IdRange,
  reachedId: string,
  left: LeftBehind,
): Promise<void> {
  await tx.query(
    sql("forgetRanges")`
      DELETE FROM signalbox.retention_range WHERE after_id >= ${range.afterId} AND after_id < ${reachedId}
    `,
  );
  if (left.anyOpen || Object.values(left.oldest).some((at) => at !== null)) {
    const { DONE, FAILED, CANCELED } = left.oldest;
    await tx.query(
      sql("rememberRange")`
        INSERT INTO signalbox.retention_range
               (after_id, to_id, oldest_done, oldest_failed, oldest_canceled, open_seen_at)
        VALUES (${range.afterId}, ${reachedId}, ${DONE}, ${FAILED}, ${CANCELED},
                CASE WHEN ${left.anyOpen} THEN clock_timestamp() END)
      `,
    );
  }
  if (range.isNew) {
    await rememberWalk(tx, reachedId);
    if (reachedId === range.toId) await endOldWalk(tx);
  } else if (reachedId < range.toId) {
    await rememberRest(tx, reachedId, range.toId);
  }
}

/** Only one that has come up to the present, so that every walk gets there. */
async function endOldWalk(tx: Transaction): Promise<void> {
  await tx.query(
    sql("endOldWalk")`
      DELETE FROM signalbox.retention_walk
       WHERE one AND began_at < clock_timestamp() - ${WALK_AGAIN_MS}::float8 * interval '1 ms'
    `,
  );
}

async function rememberWalk(tx: Transaction, walkedTo: string): Promise<void> {
  await tx.query(
    sql("rememberWalk")`
      INSERT INTO signalbox.retention_walk AS walk (walked_to)
      VALUES (${walkedTo})
          ON CONFLICT (one) DO UPDATE SET walked_to = excluded.walked_to
    `,
  );
}

/** The rest of a range that held more than one bite reads: due at once. */
async function rememberRest(tx: Transaction, afterId: string, toId: string): Promise<void> {
  await tx.query(
    sql("rememberRest")`
      INSERT INTO signalbox.retention_range (after_id, to_id, open_seen_at) VALUES (${afterId}, ${toId}, '-infinity')
    `,
  );
}
