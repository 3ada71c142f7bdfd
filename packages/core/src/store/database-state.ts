import type { Database } from "./database.ts";
import { sql } from "./sql.ts";

export interface DatabaseState {
  /** The oldest open transaction of this database that our role may see; null: none. */
  readonly oldestTransaction: {
    readonly pid: number;
    readonly applicationName: string;
    readonly openMs: number;
  } | null;
  /** How full the queue of NOTIFY is, from 0 to 1; at 1 every NOTIFY fails. */
  readonly notifyQueue: number;
}

interface StateRow {
  readonly notifyQueue: number;
  readonly pid: number | null;
  readonly applicationName: string | null;
  readonly openMs: number | null;
}

/**
 * Reads only the server's own tables of sessions. Those of other roles show their times to members of
 * `pg_read_all_stats` alone; without it they are not seen. Transactions of other databases hold up nothing here.
 */
export async function readDatabaseState(db: Database): Promise<DatabaseState> {
  const [row] = await db.query(
    sql<StateRow>("readDatabaseState")`
      SELECT pg_notification_queue_usage() AS "notifyQueue",
             a.pid, a.application_name AS "applicationName",
             (extract(epoch FROM clock_timestamp() - a.xact_start) * 1000)::float8 AS "openMs"
        FROM (SELECT) AS one
        LEFT JOIN LATERAL (
             SELECT pid, application_name, xact_start
               FROM pg_stat_activity
              WHERE datname = current_database() AND backend_type = 'client backend'
                AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
              ORDER BY xact_start
              LIMIT 1) AS a ON true
    `,
  );
  const { notifyQueue = 0, pid = null, applicationName = null, openMs = null } = row ?? {};
  if (pid === null || openMs === null) return { oldestTransaction: null, notifyQueue };
  return { oldestTransaction: { pid, applicationName: applicationName ?? "", openMs }, notifyQueue };
}
