/** From BEGIN to COMMIT on one connection, and what becomes of it where something fails. */

import type { Socket } from "node:net";
import pg from "pg";
import { SchedulerError } from "../domain/errors.ts";
import type { Transaction } from "./database.ts";
import { asNamed, isPrepared, isShort, type Named, prepareLater, sendTogether } from "./round-trip.ts";
import type { Statement } from "./sql.ts";
import { isOfClass } from "./sqlstate.ts";

/** A connection of the pool, for one transaction or one statement. */
export interface Taken {
  readonly client: pg.PoolClient;
  readonly isDirect: boolean;
  /** To be called before anything else is sent, in the same packet. */
  readonly plan: () => void;
  readonly send: <Row>(statement: Statement<Row>) => Promise<pg.QueryResult>;
}

type Work<Result> = (tx: Transaction) => Promise<Result>;

export async function inTransaction<Result>(
  { client, send, isDirect, plan }: Taken,
  begin: string,
  work: Work<Result>,
  { commitsAtOnce = false, prepares = [] }: { commitsAtOnce?: boolean; prepares?: readonly Named[] } = {},
): Promise<Result> {
  let failure: Error | undefined;
  let committed: Promise<pg.QueryResult> | undefined;
  let isOver = false;
  let firstFailure: unknown = null;
  try {
    // Through a pooler nothing keeps a statement that follows a BEGIN which failed from being carried out by itself.
    if (!isDirect) await client.query(begin);
    const { begun, working } = inOnePacket(client, () => {
      plan();
      // Not waited for: it goes with the first statement, which cannot write without it (`primaries.ts`).
      const begun = isDirect ? watchedLater(client.query(begin)) : Promise.resolve();
      const query = async <Row>(statement: Statement<Row>): Promise<Row[]> => {
        if (committed !== undefined || isOver) throw new Error(`${statement.name} comes after the COMMIT`);
        const sent = inOnePacket(client, () => send(statement));
        sent.then(
          // Whoever is answered after a failure has gone back to before it.
          () => {
            firstFailure = null;
          },
          (error: unknown) => {
            firstFailure ??= error;
          },
        );
        const [, answer] = await Promise.all([begun, sent]);
        return answer.rows as Row[];
      };
      const working = work({ isTransaction: true, query });
      // Where a statement fails, this rolls back.
      if (commitsAtOnce) committed = watchedLater(client.query("COMMIT"));
      return { begun, working };
    });
    const result = await working;
    isOver = true;
    await begun;
    requireCommitted(await (committed ?? client.query("COMMIT")));
    prepareLater(client, prepares);
    return result;
  } catch (error) {
    isOver = true;
    // Of statements that went together those behind the one that failed say only that: who hears them first knows nothing.
    const cause = isOfClass(error, /^25P02$/) ? (firstFailure ?? error) : error;
    failure = await rollBack(client, cause);
    throw cause;
  } finally {
    client.release(failure);
  }
}

interface Asked {
  readonly statement: Statement<unknown>;
  readonly answer: (rows: unknown[]) => void;
  readonly fail: (error: unknown) => void;
}

const COMMIT = asNamed("COMMIT");

/**
 * A transaction on a session of our own whose work asks for all of it before it waits for anything. With one answer where it is short
 * and the session has prepared all that is in it, as it has when it did the like before.
 */
export async function atOnce<Result>(
  by: Taken,
  opening: readonly string[],
  work: Work<Result>,
): Promise<Result> {
  const { asked, working } = gather(work);
  const frame = opening.map(asNamed);
  const statements = asked.flatMap(({ statement }) => (statement.isPrepared === true ? [statement] : []));
  const mayBeOne = statements.length === asked.length && isShort(statements);
  const whole = [...frame, ...statements, COMMIT];
  if (mayBeOne && whole.every((each) => isPrepared(by.client, each)))
    return await inOneTrip(by, { whole, opening: frame.length, asked, working });
  return await inTransaction(
    by,
    opening.join("; "),
    async (tx) => {
      for (const { statement, answer, fail } of asked) tx.query(statement).then(answer, fail);
      return await working;
    },
    { commitsAtOnce: true, prepares: mayBeOne ? [...frame, COMMIT] : [] },
  );
}

interface Gathered<Result> {
  readonly asked: readonly Asked[];
  readonly working: Promise<Result>;
}

/** What the work asks for before it waits, and what becomes of it. */
function gather<Result>(work: Work<Result>): Gathered<Result> {
  const asked: Asked[] = [];
  let isOver = false;
  const query = async <Row>(statement: Statement<Row>): Promise<Row[]> => {
    if (isOver) throw new Error(`${statement.name} comes after the COMMIT`);
    return await new Promise<Row[]>((resolve, reject) => {
      asked.push({ statement, answer: (rows) => resolve(rows as Row[]), fail: reject });
    });
  };
  // Whatever it throws before its first wait is what it comes to.
  const begin = async (): Promise<Result> => await work({ isTransaction: true, query });
  const working = watchedLater(begin());
  isOver = true;
  return { asked, working };
}

interface Trip<Result> {
  readonly whole: readonly Named[];
  /** How many come before what was asked for. */
  readonly opening: number;
  readonly asked: readonly Asked[];
  readonly working: Promise<Result>;
}

async function inOneTrip<Result>(
  { client, plan }: Taken,
  { whole, opening, asked, working }: Trip<Result>,
): Promise<Result> {
  let failure: Error | undefined;
  try {
    const answers = await inOnePacket(client, async () => {
      plan();
      return await sendTogether(client, whole);
    });
    requireCommitted(answers.at(-1));
    for (const [index, { answer }] of asked.entries()) answer(answers[opening + index]?.rows ?? []);
    return await working;
  } catch (error) {
    for (const { fail } of asked) fail(error);
    // Whoever asked hears of it before the caller does, and may have his own word for it.
    const told: unknown = await working.then(
      () => error,
      (own: unknown) => own,
    );
    failure = await rollBack(client, error);
    throw told;
  } finally {
    client.release(failure);
  }
}

/** A statement that failed and nobody waited for leaves a transaction whose COMMIT is a ROLLBACK, and no error. */
function requireCommitted(answer: pg.QueryResult | undefined): void {
  if (answer?.command !== "COMMIT") throw new Error(`The transaction ended with ${answer?.command}`);
}

/** Whoever waits for it hears of its failure; until then nobody does, and that is no end of the process. */
function watchedLater<Answer>(promise: Promise<Answer>): Promise<Answer> {
  promise.catch(() => {});
  return promise;
}

/**
 * What is sent meanwhile goes out together, with all else of this turn: every packet wakes the server up. Uncorked as often as it
 * was corked.
 */
export function inOnePacket<Answer>(client: pg.PoolClient, send: () => Answer): Answer {
  // Not in the types of the driver, which does the same for the messages of one statement.
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.cork();
  try {
    return send();
  } finally {
    process.nextTick(() => stream.uncork());
  }
}

// Read only, or no writing transaction to be had: what was a primary is none any more. Going down; the connection itself; and a session
// that does not know what it was taken to have prepared.
const NOT_AGAIN = /^(?:25006|0A000|57P0\d|08\w{3}|26000)$/;

/** Answers why the client cannot be used again, or nothing when it can. */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<Error | undefined> {
  // Neither the server's error nor ours: the connection is broken, or still busy with what we gave up on.
  if (!(cause instanceof pg.DatabaseError) && !(cause instanceof SchedulerError)) {
    return cause instanceof Error ? cause : new Error(String(cause));
  }
  if (NOT_AGAIN.test(cause.code ?? "")) return cause;
  try {
    await client.query("ROLLBACK");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
