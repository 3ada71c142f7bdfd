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
    const arrival = deferred();
    const resumption = deferred();
    const stop: Stop = {
      isFrozen,
      isHere,
      arrive: arrival.resolve,
      reached: arrival.promise,
      resumed: resumption.promise,
      resume: () => {
        stops.delete(stop);
        resumption.resolve();
      },
    };
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
  const stepped = (tx: Transaction): Transaction => ({
    isTransaction: true,
    query: async <Row>(statement: Statement<Row>) => {
      await pass(tx, statement.name);
      const given = answers.get(statement.name);
      return given === undefined ? await tx.query(statement) : (given as Row[]);
    },
  });

  return {
    ...pool,
    transaction: async (work, first) =>
      await pool.transaction(async (tx) => {
        const result = await work(stepped(tx));
        await pass(tx, "COMMIT");
        return result;
      }, first),
    snapshot: async (work) => await pool.snapshot(async (tx) => await work(stepped(tx))),
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
