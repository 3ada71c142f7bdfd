import { expect, it } from "vitest";
import type { Pool, Transaction } from "../store/database.ts";
import { callersPool } from "./callers-pool.ts";

/** A pool that carries out what it is given, and then breaks: no real one does so at exactly this point. */
function breakingAfterwards(): Pool {
  const none = async (): Promise<never> => await Promise.reject(new Error("Not asked for"));
  const tx: Transaction = { isTransaction: true, query: none };
  return {
    query: none,
    transaction: none,
    snapshot: none,
    atOnce: async (work) => {
      await work(tx);
      throw new Error("Connection terminated unexpectedly");
    },
    requireTimeline: () => {},
    newestTimeline: () => 0,
    close: async () => {},
  };
}

it("what was answered, and then broke before its COMMIT was, may be done", async () => {
  const pool = callersPool(breakingAfterwards(), "db:5432/app", "app-1");

  await expect(pool.atOnce(async () => await Promise.resolve(1))).rejects.toMatchObject({
    code: "ANSWER_LOST",
  });
});
