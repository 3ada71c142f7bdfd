import { asInstanceId } from "../../domain/ids.ts";
import type { InstanceView, Overview } from "../../domain/task-run.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

/** Counts come from the work sets, which hold only what is open. */
export async function readOverview(db: Database): Promise<Overview> {
  const waiting = await db.query(
    sql<{ cause: keyof Overview["waiting"]; count: string }>("countWaiting")`
      SELECT coalesce(blocked_on, 'NOT_EVALUATED') AS cause, count(*) FROM signalbox.waiting GROUP BY 1 ORDER BY 1
    `,
  );
  const [now] = await db.query(
    sql<{ computedAt: Date; available: string; letGo: string }>("countReady")`
      SELECT clock_timestamp() AS "computedAt", (SELECT count(*) FROM signalbox.ready) AS available,
             (SELECT count(*) FROM signalbox.outside_job WHERE next_poll_at < 'infinity') AS "letGo"
    `,
  );
  const instances = await readInstances(db);
  return {
    computedAt: now?.computedAt ?? new Date(0),
    waiting: Object.fromEntries(waiting.map(({ cause, count }) => [cause, Number(count)])),
    available: Number(now?.available ?? 0),
    // What an outside job goes on with is nobody's, or is polled by somebody at this moment.
    running: instances.reduce((sum, { view, polls }) => sum + view.running + polls, Number(now?.letGo ?? 0)),
    instances: instances.map(({ view }) => view),
  };
}

async function readInstances(
  db: Database,
): Promise<readonly { readonly view: InstanceView; readonly polls: number }[]> {
  const rows = await db.query(
    sql<Omit<InstanceView, "instanceId"> & { instanceId: string; polls: number }>("readInstances")`
      SELECT i.boot_id AS "instanceId", i.name, i.state, i.kinds, i.slots, own.running, own.polls,
             i.started_at AS "startedAt", i.beat_at AS "beatAt", i.expires_at AS "leaseUntil"
        FROM signalbox.instance AS i
       CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE t.let_go_at IS NULL)::integer AS running,
                    count(*) FILTER (WHERE t.let_go_at IS NOT NULL)::integer AS polls
               FROM signalbox.claim_batch AS b
              CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
               JOIN signalbox.task_run AS t ON t.id = g.id
              WHERE b.instance_id = i.boot_id AND t.status = 'RUNNING' AND t.claim_no = b.claim_no
                AND t.claimed_by = i.boot_id) AS own
       WHERE i.state <> 'DEAD' OR i.beat_at > clock_timestamp() - interval '10 minutes'
       ORDER BY i.started_at, i.boot_id
    `,
  );
  return rows.map(({ polls, ...row }) => ({
    polls,
    view: { ...row, instanceId: asInstanceId(row.instanceId) },
  }));
}
