/** Which connections are used again, and which are thrown away. Standbys and old primaries for real: test/ha. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { cancel } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import type { Database, Pool } from "./database.ts";
import { preparedSql, sql } from "./sql.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function backendOf(db: Database): Promise<number | undefined> {
  const [row] = await db.query(sql<{ pid: number }>("backend")`SELECT pg_backend_pid() AS pid`);
  return row?.pid;
}
/** Fails a transaction in this way; answers whether the next one is on the same connection. */
async function usesItAgainAfter(pool: Pool, code: string): Promise<boolean> {
  let pid: number | undefined;
  const failing = pool.transaction(async (tx) => {
    pid = await backendOf(tx);
    await tx.query(sql("fail")`
      DO $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = current_setting('test.code'); END $$`);
  });
  await expect(failing).rejects.toMatchObject({ code });
  return (await pool.transaction(backendOf)) === pid;
}

it.each([
  ["read only", "25006", false],
  ["told to go by the administrator", "57P01", false],
  ["a broken connection", "08006", false],
  ["a unique violation", "23505", true],
  ["a deadlock", "40P01", true],
])("after %s (%s) the connection is used again: %s", async (_what, code, again) => {
  await box.query(
    `ALTER DATABASE ${await box.value<string>("SELECT current_database()")} SET test.code = '${code}'`,
  );

  expect(await usesItAgainAfter(box.pool("user"), code)).toBe(again);
});

it("uses no connection to a primary that is older than one it was told of", async () => {
  const pool = box.pool("user");
  const timeline = await box.value<number>("SELECT signalbox.current_timeline()");
  await backendOf(pool);

  pool.requireTimeline(timeline);
  expect(await backendOf(pool)).toBeTypeOf("number");
  pool.requireTimeline(timeline + 1);
  await expect(backendOf(pool)).rejects.toMatchObject({
    code: "NOT_THE_PRIMARY",
    details: { timeline, newest: timeline + 1 },
  });
  await expect(pool.transaction(backendOf)).rejects.toMatchObject({ code: "NOT_THE_PRIMARY" });
});

it("a transaction that stands still is ended within seconds, and whoever waited for its rows goes on", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(1));
  const frozen = box.pool("frozen");
  const pause = frozen.freezeBefore("COMMIT");
  const silent = cancel(taskRunId)(frozen);
  silent.catch(() => {});
  await pause.reached;

  const begunAt = performance.now();
  expect(await cancel(taskRunId)(box.pool("other"))).toBe("canceled");
  const waitedMs = performance.now() - begunAt;
  pause.resume();

  // Two seconds and what a busy machine adds. Its own patience would have ended after sixteen.
  expect(waitedMs).toBeLessThan(8_000);
  await expect(silent).rejects.toThrow();
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("keeps the hot statements prepared where the session is its own, and no others", async () => {
  const pool = box.pool("user");

  const kept = await pool.transaction(async (tx) => {
    await tx.query(preparedSql("hot")`SELECT ${1}::integer`);
    await tx.query(preparedSql("hot")`SELECT ${1}::integer`);
    await tx.query(sql("cold")`SELECT ${2}::integer`);
    return await tx.query(sql<{ name: string }>("kept")`SELECT name FROM pg_prepared_statements`);
  });

  expect(kept).toEqual([{ name: "hot" }]);
});

it("tells why a transaction could not begin, not what became of the statement that went with it", async () => {
  const pool = box.pool("user");
  const hot = async (tx: Database): Promise<unknown> =>
    await tx.query(preparedSql("hot")`SELECT ${1}::integer AS one`);

  await expect(pool.transaction(hot, "SELECT 1 / 0")).rejects.toMatchObject({ code: "22012" });

  // Nor does the connection take it for prepared.
  expect(await pool.transaction(hot)).toEqual([{ one: 1 }]);
});

it("writes nothing where the BEGIN itself failed", async () => {
  const pool = box.pool("user");
  await pool.transaction(
    async (tx) => await tx.query(sql("make")`CREATE TABLE signalbox.left_behind (n integer)`),
  );
  // As if somebody had canceled it: nothing is begun, and the server goes on with the next message.
  const failing = pool.transaction(
    async (tx) => await tx.query(sql("write")`INSERT INTO signalbox.left_behind VALUES (${1})`),
    "COMMIT; SELECT 1 / 0",
  );

  await expect(failing).rejects.toMatchObject({ code: "22012" });

  expect(await box.query("TABLE signalbox.left_behind")).toEqual([]);
  await box.query("DROP TABLE signalbox.left_behind");
});
