/** Which connections are used again, and which are thrown away. Standbys and old primaries for real: test/ha. */

import { afterAll, afterEach, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { cancel } from "../../test/acts.ts";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { type Database, openPool, type Pool, type Transaction } from "./database.ts";
import { tryInside } from "./savepoint.ts";
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

describe("a transaction that is sent at once", () => {
  const open = (url = box.db.url): Pool => {
    const pool = openPool({ url, size: 1, queryTimeoutMs: 20_000, applicationName: "at once" });
    onTestFinished(async () => await pool.close());
    return pool;
  };
  const write = async (tx: Transaction, n: number): Promise<unknown> =>
    await tx.query(sql("write")`INSERT INTO signalbox.left_behind VALUES (${n}) RETURNING n`);
  beforeAll(async () => void (await box.query("CREATE TABLE signalbox.left_behind (n integer PRIMARY KEY)")));
  afterEach(async () => void (await box.query("TRUNCATE signalbox.left_behind")));
  afterAll(async () => void (await box.query("DROP TABLE signalbox.left_behind")));

  it("waits for one answer only, and has committed then", async () => {
    const proxy = await openFaultProxy(box.db.url);
    onTestFinished(async () => await proxy.close());
    const pool = open(proxy.url);
    await pool.transaction(backendOf);
    const before = proxy.packets();

    expect(await pool.atOnce(async (tx) => await Promise.all([write(tx, 1), write(tx, 2)]))).toEqual([
      [{ n: 1 }],
      [{ n: 2 }],
    ]);

    expect(proxy.packets() - before).toBe(1);
    expect(await box.query("TABLE signalbox.left_behind")).toHaveLength(2);
  });

  it("writes nothing where one of its statements fails, and tells which; the connection is used again", async () => {
    const pool = open();
    const pid = await pool.transaction(backendOf);

    const failing = pool.atOnce(async (tx) => await Promise.all([write(tx, 1), write(tx, 1), write(tx, 2)]));

    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await box.query("TABLE signalbox.left_behind")).toEqual([]);
    expect(await pool.transaction(backendOf)).toBe(pid);
  });

  it("tells what failed, whoever of those that went together is heard first", async () => {
    const failing = open().transaction(async (tx) => {
      await write(tx, 1);
      const first = write(tx, 1);
      const second = write(tx, 2);
      const afterTheOther = first.catch(async (error: unknown) => {
        await second.catch(() => {});
        throw error;
      });
      await Promise.all([afterTheOther, second]);
    });

    await expect(failing).rejects.toMatchObject({ code: "23505" });
  });

  it("tells what failed last, not what was taken back before", async () => {
    const failing = open().transaction(async (tx) => {
      await tryInside(tx, async () => {
        await write(tx, 1);
        await write(tx, 1);
      });
      const first = tx.query(sql("divide")`SELECT 1 / 0`);
      first.catch(() => {});
      await write(tx, 2);
    });

    await expect(failing).rejects.toMatchObject({ code: "22012" });
  });

  it("has failed where a statement did that nobody waited for", async () => {
    const failing = open().transaction(async (tx) => {
      await write(tx, 1);
      tx.query(sql("divide")`SELECT 1 / 0`).catch(() => {});
    });

    await expect(failing).rejects.toThrow("The transaction ended with ROLLBACK");
    expect(await box.query("TABLE signalbox.left_behind")).toEqual([]);
  });

  it("writes nothing where the BEGIN itself failed", async () => {
    const failing = open().atOnce(async (tx) => await write(tx, 1), "COMMIT; SELECT 1 / 0");

    await expect(failing).rejects.toMatchObject({ code: "22012" });
    expect(await box.query("TABLE signalbox.left_behind")).toEqual([]);
  });

  it("takes no statement that comes after its COMMIT", async () => {
    const late = open().atOnce(async (tx) => {
      await write(tx, 1);
      return await write(tx, 2);
    });

    await expect(late).rejects.toThrow("write comes after the COMMIT");
    expect(await box.query("TABLE signalbox.left_behind")).not.toContainEqual({ n: 2 });
  });
});

it("a plan of a single statement is not kept: it was made by tables that are longer by now", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 20_000, applicationName: "planner" });
  onTestFinished(async () => await pool.close());
  await pool.query(preparedSql("hot")`SELECT ${1}::integer AS one`);

  expect(await pool.query(sql("kept")`SELECT name FROM pg_prepared_statements`)).toEqual([]);
});

it("a plan that was made for a snapshot is not kept for those who write", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 20_000, applicationName: "planner" });
  onTestFinished(async () => await pool.close());
  const hot = preparedSql<{ one: number }>("hot")`SELECT ${1}::integer AS one`;
  await pool.snapshot(async (tx) => await tx.query(hot));

  const kept = await pool.transaction(
    async (tx) => await tx.query(sql<{ name: string }>("kept")`SELECT name FROM pg_prepared_statements`),
  );

  expect(kept).toEqual([{ name: "read hot" }]);
});

it("plans as each asks for, on one connection, whatever became of the one before", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 5_000, applicationName: "planner" });
  onTestFinished(async () => await pool.close());
  const planning = async (db: Database): Promise<unknown> =>
    (
      await db.query(sql("planning")`
        SELECT current_setting('enable_seqscan') AS whole, current_setting('enable_bitmapscan') AS unordered,
               current_setting('plan_cache_mode') AS plans`)
    )[0];
  const failing = pool.atOnce(async (tx) => await tx.query(sql("fail")`SELECT 1 / 0`));

  await expect(failing).rejects.toMatchObject({ code: "22012" });
  expect(await pool.atOnce(planning)).toEqual({
    whole: "off",
    unordered: "off",
    plans: "force_generic_plan",
  });
  expect(await pool.transaction(planning)).toEqual({ whole: "off", unordered: "on", plans: "auto" });
  expect(await pool.snapshot(planning)).toEqual({ whole: "on", unordered: "on", plans: "auto" });
  expect(await pool.query(sql("planning")`SELECT current_setting('enable_hashjoin') AS joins`)).toEqual([
    { joins: "on" },
  ]);
});
