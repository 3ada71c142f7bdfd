import type { Fixture } from "./fixture.ts";

/** An id whose time lies `$1` milliseconds before that of another one. */
const older = (id: string): string =>
  `(lpad(to_hex(('x' || lpad(left(replace(${id}::text, '-', ''), 12), 16, '0'))::bit(64)::bigint - $1), 12, '0')
    || substr(replace(${id}::text, '-', ''), 13))::uuid`;

/** Moves all that was enqueued so far into the past, ids and stamps, as if it had happened then. */
export async function makeOlder({ query }: Fixture, ms: number): Promise<void> {
  const by = "$1 * interval '1 ms'";
  const earlier = (...columns: readonly string[]): string =>
    columns.map((name) => `${name} = ${name} - ${by}`).join(", ");
  await query("ALTER TABLE signalbox.task_run DISABLE TRIGGER ALL");
  await query(`UPDATE signalbox.task SET id = ${older("id")}, ${earlier("created_at")}`, [ms]);
  await query(
    `UPDATE signalbox.task_run
        SET task_id = ${older("task_id")}, ${earlier("enqueued_at", "available_at", "claimed_at", "finished_at")}`,
    [ms],
  );
  await query(`UPDATE signalbox.waiting SET task_id = ${older("task_id")}, ${earlier("enqueued_at")}`, [ms]);
  await query(`UPDATE signalbox.stop SET task_id = ${older("task_id")}`, [ms]);
  await query(
    `UPDATE signalbox.hold SET reserved_for = ${older("reserved_for")} WHERE reserved_for IS NOT NULL`,
    [ms],
  );
  await query(`UPDATE signalbox.run SET ${earlier("created_at", "finished_at")}`, [ms]);
  await query(`UPDATE signalbox.event_store SET ${earlier("at")}`, [ms]);
  await query(`UPDATE signalbox.idempotency_key SET ${earlier("created_at")}`, [ms]);
  await query(
    `UPDATE signalbox.retention_walk SET walked_to = ${older("walked_to")}, ${earlier("began_at")}`,
    [ms],
  );
  await query(
    `UPDATE signalbox.retention_range
        SET after_id = CASE WHEN after_id::text LIKE '00000000-%' THEN after_id ELSE ${older("after_id")} END,
            to_id = ${older("to_id")}, ${earlier("oldest_done", "oldest_failed", "oldest_canceled", "open_seen_at")}`,
    [ms],
  );
  await query("ALTER TABLE signalbox.task_run ENABLE TRIGGER ALL");
}
