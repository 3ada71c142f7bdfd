import type { Database } from "./database.ts";
import { preparedSql } from "./sql.ts";

/**
 * `gate`: something may be promoted. `ready`: something may be claimed. `cancel`: something is to stop. `log`: a log
 * has grown. `operation`: one was asked for.
 */
export type WakeChannel =
  | "signalbox_gate"
  | "signalbox_ready"
  | "signalbox_cancel"
  | "signalbox_log"
  | "signalbox_operation";
export const WAKE_CHANNELS: readonly WakeChannel[] = [
  "signalbox_gate",
  "signalbox_ready",
  "signalbox_cancel",
  "signalbox_log",
  "signalbox_operation",
];

/** From here on nothing is sent: a transaction that sends into a full queue cannot commit, and this is only a hint. */
export const NEARLY_FULL = 0.9;

export async function notifyChannels(db: Database, channels: readonly WakeChannel[]): Promise<void> {
  if (channels.length === 0) return;
  await db.query(
    preparedSql("notifyChannels")`
      SELECT pg_notify(channel, '')
        FROM unnest(${channels}::text[]) AS g (channel)
       WHERE (SELECT pg_notification_queue_usage()) < ${NEARLY_FULL}
    `,
  );
}
