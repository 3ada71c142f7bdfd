/**
 * The connection to PostgreSQL: statements, transactions, and what happens to a client that failed.
 * Only this file and its parts (`transaction.ts`, `round-trip.ts`) talk to `pg`, apart from the lease's own thread and the listener.
 */

import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { CLOSE_PATIENCE_MS, destroy } from "./end-client.ts";
import { type Primaries, rememberPrimaries } from "./primaries.ts";
import { IN_INDEX_ORDER, KEEP_PLANS, type Planning, planningText, sessionTexts } from "./session.ts";
import type { Statement } from "./sql.ts";
import { isOfClass } from "./sqlstate.ts";
import { atOnce, inOnePacket, inTransaction, type Taken } from "./transaction.ts";

/** Where a single statement can be sent: the pool, a transaction, or a caller's own transaction. */
export interface Database {
  query<Row>(statement: Statement<Row>): Promise<Row[]>;
}

/** Only inside `transaction`: the type says which functions need one. */
export interface Transaction extends Database {
  readonly isTransaction: true;
}

export interface Pool extends Database {
  /**
   * READ COMMITTED, whatever the default is: under REPEATABLE READ the lock statement itself would take the snapshot.
   * `first` is a statement to go with the BEGIN, in the same round trip.
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, first?: string): Promise<Result>;
  /**
   * A transaction whose work sends all it has to send before it waits for anything: all of it is one round trip. `first` is one
   * statement that answers with no rows.
   */
  atOnce<Result>(work: (tx: Transaction) => Promise<Result>, first?: string): Promise<Result>;
  /**
   * Several reads that must agree with each other: one snapshot, nothing written. `patienceMs` is how long each statement
   * of the work is waited for, in place of `queryTimeoutMs`.
   */
  snapshot<Result>(
    work: (tx: Transaction) => Promise<Result>,
    first?: string,
    patienceMs?: number,
  ): Promise<Result>;
  /** A primary of this timeline is known: no connection to an older one is used any more. */
  requireTimeline(timeline: number): void;
  /** The newest that one of its connections has met; 0 before the first. */
  newestTimeline(): number;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** How long the client waits for an answer before it throws the connection away. */
  readonly queryTimeoutMs: number;
  readonly applicationName: string;
  /** Keeps what it has for as long as it lives: a server with too many connections gives no second one. */
  readonly keepsIdle?: boolean;
  /** Told of a connection that broke while nobody used it. */
  readonly onConnectionLost?: (error: Error) => void;
}

export function openPool(options: PoolOptions): Pool {
  const texts = sessionTexts(options.queryTimeoutMs);
  const primaries = rememberPrimaries(texts.session);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.size,
    query_timeout: options.queryTimeoutMs,
    connectionTimeoutMillis: options.queryTimeoutMs,
    application_name: options.applicationName,
    keepAlive: true,
    ...(options.keepsIdle === true && { idleTimeoutMillis: 0 }),
    // A BEGIN goes with the statement that follows it; and one that timed out takes its connection with it.
    pipeline: true,
    verify: primaries.verify,
  });
  // A connection that breaks is thrown away by the pool or tells us by a rejected query; without listeners it would end
  // the process. From its first moment on: a server that shuts down says goodbye in one packet with its greeting.
  pool.on("error", (error) => options.onConnectionLost?.(error));
  pool.on("connect", (client) => client.on("error", () => {}));
  const open = new Set<pg.PoolClient>();
  pool.on("connect", (client) => open.add(client));
  pool.on("remove", (client) => open.delete(client));
  const taken = async (planning: Planning): Promise<Taken> => await take(pool, primaries, planning);
  return {
    query: async (statement) => await inOneStatement(await taken("any"), statement),
    transaction: async (work, first) => {
      const by = await taken("by index");
      return await inTransaction(by, joined(by.isDirect ? texts.begin : texts.beginElsewhere, first), work);
    },
    atOnce: async (work, first) => {
      const by = await taken("kept");
      if (by.isDirect)
        return await atOnce(by, first === undefined ? [texts.begin] : [texts.begin, first], work);
      const begin = joined(texts.beginElsewhere, KEEP_PLANS, IN_INDEX_ORDER, first);
      return await inTransaction(by, begin, work, { commitsAtOnce: true });
    },
    snapshot: async (work, first, patienceMs) => {
      const by = apart(await taken("any"), patienceMs);
      return await inTransaction(by, joined(texts.beginSnapshot, first), work);
    },
    requireTimeline: primaries.expect,
    newestTimeline: primaries.newest,
    close: async () => {
      await Promise.race([pool.end(), wait(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
      for (const client of open) destroy(client);
    },
  };
}

function joined(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("; ");
}

/** Those that lead to a primary of before are thrown away on the way; a new one is never older than what is known. */
async function take(pool: pg.Pool, primaries: Primaries, planning: Planning): Promise<Taken> {
  for (;;) {
    const client = await pool.connect();
    if (primaries.isCurrent(client)) {
      const isDirect = primaries.isDirect(client);
      return {
        client,
        isDirect,
        plan: () => {
          if (isDirect) tellPlanning(client, planning);
        },
        send: async ({ name, text, values, isPrepared }) =>
          await client.query(isPrepared === true && isDirect ? { name, text, values } : { text, values }),
      };
    }
    client.release(true);
  }
}

/** What sessions of our own were told last; one that is new plans in any way. Null: it was broken off, and nobody knows. */
const plannings = new WeakMap<pg.PoolClient, Planning | null>();

/** By itself, not within the transaction that follows: a ROLLBACK would take it back. */
function tellPlanning(client: pg.PoolClient, planning: Planning): void {
  const told = plannings.get(client);
  if ((told === undefined ? "any" : told) === planning) return;
  plannings.set(client, planning);
  client.query(planningText(planning)).catch(() => plannings.set(client, null));
}

/** A plan that is made for a snapshot, where any is allowed, must not be kept for those who write: it has a name of its own. */
function apart({ client, isDirect, plan }: Taken, patienceMs?: number): Taken {
  const patience = patienceMs === undefined ? {} : { query_timeout: patienceMs };
  return {
    client,
    isDirect,
    plan,
    send: async ({ name, text, values, isPrepared }) =>
      await client.query({
        ...(isPrepared === true && isDirect ? { name: `read ${name}` } : {}),
        text,
        values,
        ...patience,
      }),
  };
}

/** Never under a name: a plan that was made while tables were short would be kept, and here any is allowed. */
async function inOneStatement<Row>(
  { client, plan }: Taken,
  { text, values }: Statement<Row>,
): Promise<Row[]> {
  let failure: Error | undefined;
  try {
    const answer = inOnePacket(client, () => {
      plan();
      return client.query({ text, values });
    });
    return (await answer).rows as Row[];
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failure);
  }
}

/**
 * The server's own word on a statement, and on what went with it. Not where it speaks of the connection: a pooler says in
 * its name that it has lost it, perhaps after a COMMIT.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isOfClass(error, /^(?:08|57P)/);
}

/** The server could not store a value as it is: no second try will change that. */
export function isRefusedValue(error: unknown): boolean {
  // Class 22 is data exceptions, 54 is limits of the program such as the nesting of a value; then what a column or a
  // CHECK of the schema demands of one.
  return isOfClass(error, /^(?:22|54|23502|23514)/);
}

/** The server refused one of the rows of a statement, and with it all that were written together. */
export function isRefusedRow(error: unknown): boolean {
  // Class 23 is violated constraints.
  return isRefusedValue(error) || isOfClass(error, /^23/);
}

/** A caller's own transaction, given as a `pg` client or anything with the same `query`. */
export function joinTransaction(caller: {
  query(statement: { text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}): Transaction {
  return {
    isTransaction: true,
    query: async <Row>(statement: Statement<Row>) =>
      (await caller.query({ text: statement.text, values: statement.values })).rows as Row[],
  };
}
