import pg from "pg";
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

it.each([
  ["08P01", "ANSWER_LOST"],
  ["57P01", "ANSWER_LOST"],
  ["57014", "DATABASE_UNREACHABLE"],
])("what was sent with its COMMIT and ended with %s, in the server's name, is %s", async (code, told) => {
  const pool = callersPool(breakingAfterwards(), "db:5432/app", "app-1");
  const error = Object.assign(new pg.DatabaseError("server conn crashed?", 0, "error"), { code });

  await expect(pool.atOnce(async () => await Promise.reject(error))).rejects.toMatchObject({ code: told });
});
