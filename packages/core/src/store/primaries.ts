/**
 * Which server a connection leads to. A pool outlives a failover: of its connections some may still lead to the old
 * primary, and a name may lead to a standby for a while.
 */

import { callbackify } from "node:util";
import type pg from "pg";
import { SchedulerError } from "../domain/errors.ts";

export interface Primaries {
  /** Of a new connection, before it is given to anybody. */
  readonly verify: (client: pg.PoolClient, done: (problem: Error) => void) => void;
  /** Whether it leads to the newest primary that this process knows of. */
  readonly isCurrent: (client: pg.PoolClient) => boolean;
  /** Whether a session of the server is its own: through a pooler another one may answer each transaction. */
  readonly isDirect: (client: pg.PoolClient) => boolean;
  readonly expect: (timeline: number) => void;
  readonly newest: () => number;
}

// Not by our own function: the schema may not be there yet. A standby cannot say where it writes.
const WHO_IS_THERE = `
  SELECT CASE WHEN NOT pg_is_in_recovery()
              THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END AS timeline,
         pg_backend_pid() AS pid`;

/** `session` is what a session of our own is told. */
export function rememberPrimaries(session: string): Primaries {
  const timelines = new WeakMap<pg.PoolClient, number>();
  const direct = new WeakSet<pg.PoolClient>();
  let newest = 0;
  const expect = (timeline: number): void => {
    newest = Math.max(newest, timeline);
  };
  const look = async (client: pg.PoolClient): Promise<void> => {
    const { rows } = await client.query<{ timeline: number | null; pid: number }>(WHO_IS_THERE);
    const timeline = rows[0]?.timeline ?? null;
    if (timeline === null || timeline < newest)
      throw new SchedulerError("NOT_THE_PRIMARY", { timeline, newest });
    expect(timeline);
    timelines.set(client, timeline);
    // A pooler greets with a number of its own.
    if (rows[0]?.pid !== greetedAs(client)) return;
    await client.query(session);
    direct.add(client);
  };
  return {
    verify: callbackify(look),
    isCurrent: (client) => (timelines.get(client) ?? 0) >= newest,
    isDirect: (client) => direct.has(client),
    expect,
    newest: () => newest,
  };
}

/** The process id that the other side gave as its own, for a cancel. Not in the types of the driver. */
function greetedAs(client: pg.PoolClient): unknown {
  return (client as { readonly processID?: unknown }).processID;
}
