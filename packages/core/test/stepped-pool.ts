/** A pool whose transactions stop where a test says, so that another one can act in between. */

import type { Pool, Transaction } from "../src/store/database.ts";
import type { Statement } from "../src/store/sql.ts";
import { deferred } from "./deferred.ts";

interface Pause {
  /** Resolves when the transaction stands there. */
  readonly reached: Promise<void>;
  resume(): void;
}

export interface SteppedPool extends Pool {
  /**
   * Stops the next transaction that comes to the statement of this name; "COMMIT" is the end of the work. It may stand
   * there as long as a busy machine takes for the rest of the test.
   */
  pauseBefore(statementName: string): Pause;
  /** The same as if its process were frozen there: the server ends the session when that takes too long. */
  freezeBefore(statementName: string): Pause;
  /** Stops before the n-th statement from now, counted from 0 through all transactions; a COMMIT counts too. */
  pauseBeforeStatement(index: number): Pause;
  /** Answers a statement without sending it. */
  answer(statementName: string, rows: readonly unknown[]): void;
}

interface Stop extends Pause {
  readonly isFrozen: boolean;
  readonly isHere: (name: string, index: number) => boolean;
  readonly arrive: () => void;
  readonly resumed: Promise<void>;
}

export function stepThrough(pool: Pool): SteppedPool {
  const stops = new Set<Stop>();
  const answers = new Map<string, readonly unknown[]>();
  let passed = 0;

  const pauseWhere = (isHere: Stop["isHere"], isFrozen = false): Pause => {
    const stop = stopWhere(isHere, isFrozen);
    stops.add(stop);
    return stop;
  };
  const pass = async (tx: Transaction, name: string): Promise<void> => {
    const index = passed++;
    for (const stop of stops) {
      if (!stop.isHere(name, index)) continue;
      stops.delete(stop);
      if (!stop.isFrozen) await mayStandStill(tx);
      stop.arrive();
      await stop.resumed;
    }
  };
  const step = async <Row>(tx: Transaction, statement: Statement<Row>): Promise<Row[]> => {
    await pass(tx, statement.name);
    const given = answers.get(statement.name);
    return given === undefined ? await tx.query(statement) : (given as Row[]);
  };
  const stepped = (tx: Transaction): Transaction => {
    // What is sent together is carried out one after the other: whoever stops one stops those behind it.
    let before: Promise<unknown> = Promise.resolve();
    const query: Transaction["query"] = async (statement) => {
      const answering = before.then(async () => await step(tx, statement));
      before = answering.catch(() => {});
      return await answering;
    };
    return { isTransaction: true, query };
  };
  const transaction: Pool["transaction"] = async (work, first) =>
    await pool.transaction(async (tx) => {
      const result = await work(stepped(tx));
      await pass(tx, "COMMIT");
      return result;
    }, first);
  return {
    ...pool,
    transaction,
    // Not in one round trip: another one may act in between, as it may before the server has got to the COMMIT.
    atOnce: transaction,
    snapshot: async (work, first) => await pool.snapshot(async (tx) => await work(stepped(tx)), first),
    pauseBefore: (statementName) => pauseWhere((name) => name === statementName),
    freezeBefore: (statementName) => pauseWhere((name) => name === statementName, true),
    pauseBeforeStatement: (index) => {
      const from = passed;
      return pauseWhere((_, at) => at === from + index);
    },
    answer: (statementName, rows) => {
      answers.set(statementName, rows);
    },
  };
}

function stopWhere(isHere: Stop["isHere"], isFrozen: boolean): Stop {
  const [arrival, resumption] = [deferred(), deferred()];
  return {
    isFrozen,
    isHere,
    arrive: arrival.resolve,
    reached: arrival.promise,
    resumed: resumption.promise,
    resume: resumption.resolve,
  };
}

/** Lifts the bound that a transaction has for standing still. */
async function mayStandStill(tx: Transaction): Promise<void> {
  await tx.query({
    name: "mayStandStill",
    text: "SELECT set_config('idle_in_transaction_session_timeout', '0', true)",
    values: [],
  });
}

export interface OpenTransaction<Result> {
  readonly result: Result;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

/** Does the work in a transaction and leaves it open: what it wrote is there and nobody sees it. */
export async function leaveOpen<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<OpenTransaction<Result>> {
  const worked = deferred<Result>();
  const end = deferred();
  const over = pool.transaction(async (tx) => {
    const result = await work(tx);
    await mayStandStill(tx);
    worked.resolve(result);
    await end.promise;
  });
  over.catch(worked.reject);
  return {
    result: await worked.promise,
    commit: async () => {
      end.resolve();
      await over;
    },
    rollBack: async () => {
      end.reject(new Error("rolled back"));
      await over.catch(() => {});
    },
  };
}
