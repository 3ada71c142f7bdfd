/**
 * The pool as the calls of the library use it: what the driver throws becomes an error with a code. The engine's own
 * loops use the pool itself: they try again, whatever it was.
 */

import { SchedulerError } from "../domain/errors.ts";
import { isRefusal, type Pool } from "../store/database.ts";
import { missesSchema, tellDriverError } from "../store/driver-error.ts";
import { requireSchema } from "../store/migrations/require-schema.ts";

export function callersPool(pool: Pool, place: string, instanceName: string): Pool {
  let isClosed = false;
  const tell = async (error: unknown, mayBeDone: boolean): Promise<unknown> => {
    const told = tellDriverError(error, place, { mayBeDone });
    if (told !== null) return told;
    return missesSchema(error) ? await whatIsMissing(pool, error) : error;
  };
  const ask = async <Answer>(call: () => Promise<Answer>, mayBeDone = () => false): Promise<Answer> => {
    if (isClosed) throw new SchedulerError("SCHEDULER_STOPPED", { instanceName });
    try {
      return await call();
    } catch (error) {
      throw await tell(error, mayBeDone());
    }
  };
  return {
    ...pool,
    query: async (statement) => await ask(async () => await pool.query(statement)),
    snapshot: async (work, first, patienceMs) =>
      await ask(async () => await pool.snapshot(work, first, patienceMs)),
    atOnce: async (work, first) => {
      let mayBeDone = false;
      const call = async () =>
        await pool.atOnce(async (tx) => {
          try {
            const answer = await work(tx);
            mayBeDone = true;
            return answer;
          } catch (error) {
            // The COMMIT went with it; but what the server refuses, it rolls back.
            mayBeDone = !isRefusal(error);
            throw error;
          }
        }, first);
      return await ask(call, () => mayBeDone);
    },
    transaction: async (work, first) => {
      let worked = false;
      const call = async () =>
        await pool.transaction(async (tx) => {
          const answer = await work(tx);
          worked = true;
          return answer;
        }, first);
      // What breaks before the COMMIT is rolled back by the server, whatever became of the connection.
      return await ask(call, () => worked);
    },
    close: async () => {
      isClosed = true;
      await pool.close();
    },
  };
}

/** Which migrations are not there, where that is the reason. */
async function whatIsMissing(pool: Pool, error: unknown): Promise<unknown> {
  try {
    await requireSchema(pool);
  } catch (found) {
    if (found instanceof SchedulerError)
      return new SchedulerError(found.code, found.details, { cause: error });
  }
  return error;
}
