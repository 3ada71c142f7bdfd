/** A transaction that is sent at once and whose statements the session has prepared. */

import { afterAll, afterEach, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { openFixture } from "../../test/fixture.ts";
import { type Database, openPool, type Pool, type Transaction } from "./database.ts";
import { preparedSql, sql } from "./sql.ts";

const box = await openFixture(inject("adminUrl"));
beforeAll(async () => void (await box.query("CREATE TABLE signalbox.left_behind (n integer PRIMARY KEY)")));
afterEach(async () => void (await box.query("TRUNCATE signalbox.left_behind")));
afterAll(box.close);

async function backendOf(db: Database): Promise<number | undefined> {
  const [row] = await db.query(sql<{ pid: number }>("backend")`SELECT pg_backend_pid() AS pid`);
  return row?.pid;
}

const known = async (tx: Transaction, n: unknown): Promise<unknown> =>
  await tx.query(preparedSql("known")`INSERT INTO signalbox.left_behind VALUES (${n}) RETURNING n`);
/** On one connection, which has done the like before. */
const openPrepared = async (url = box.db.url, first?: string): Promise<Pool> => {
  const pool = openPool({ url, size: 1, queryTimeoutMs: 20_000, applicationName: "prepared" });
  onTestFinished(async () => await pool.close());
  await pool.atOnce(async (tx) => await known(tx, 0), first);
  // Behind what it prepares, which nobody waits for.
  await pool.transaction(backendOf);
  return pool;
};

it("has one answer, and has committed then", async () => {
  const proxy = await openFaultProxy(box.db.url);
  onTestFinished(async () => await proxy.close());
  const pool = await openPrepared(proxy.url);
  const both = async (tx: Transaction) => await Promise.all([known(tx, 1), known(tx, 2)]);
  await pool.atOnce(async (tx) => await known(tx, 3));
  const before = [proxy.packets(), proxy.answers()] as const;

  expect(await pool.atOnce(both)).toEqual([[{ n: 1 }], [{ n: 2 }]]);

  expect([proxy.packets() - before[0], proxy.answers() - before[1]]).toEqual([1, 1]);
  expect(await box.query("TABLE signalbox.left_behind")).toHaveLength(4);
});

it("writes nothing where one of its statements fails, and tells which; the connection is used again", async () => {
  const pool = await openPrepared();
  const pid = await pool.transaction(backendOf);

  const failing = pool.atOnce(async (tx) => await Promise.all([known(tx, 1), known(tx, 1), known(tx, 2)]));

  await expect(failing).rejects.toMatchObject({ code: "23505" });
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }]);
  expect(await pool.transaction(backendOf)).toBe(pid);
  expect(await pool.atOnce(async (tx) => await known(tx, 5))).toEqual([{ n: 5 }]);
});

it("writes nothing where what opens it fails", async () => {
  const lock = "LOCK TABLE signalbox.opening IN ROW SHARE MODE";
  await box.query("CREATE TABLE signalbox.opening ()");
  const pool = await openPrepared(box.db.url, lock);
  expect(await pool.atOnce(async (tx) => await known(tx, 1), lock)).toEqual([{ n: 1 }]);
  await box.query("DROP TABLE signalbox.opening");

  const failing = pool.atOnce(async (tx) => await known(tx, 2), lock);

  await expect(failing).rejects.toMatchObject({ code: "42P01" });
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }, { n: 1 }]);
});

it("is answered one by one where it is long: the server ends one that stands still only between two answers", async () => {
  const proxy = await openFaultProxy(box.db.url);
  onTestFinished(async () => await proxy.close());
  const pool = await openPrepared(proxy.url);
  const length = async (tx: Transaction, given: string): Promise<unknown> =>
    await tx.query(preparedSql("length")`SELECT length(${given}) AS characters`);
  await pool.atOnce(async (tx) => await length(tx, "short"));
  const before = proxy.answers();

  expect(await pool.atOnce(async (tx) => await length(tx, "x".repeat(1_000)))).toEqual([
    { characters: 1_000 },
  ]);

  expect(proxy.answers() - before).toBe(3);
});

it("throws a connection away that has not prepared what it was taken to have", async () => {
  const pool = await openPrepared();
  await pool.query(sql("forget")`DEALLOCATE ALL`);

  await expect(pool.atOnce(async (tx) => await known(tx, 1))).rejects.toMatchObject({ code: "26000" });

  await expect(pool.atOnce(async (tx) => await known(tx, 1))).resolves.toEqual([{ n: 1 }]);
});

it("has failed with the word of whoever asked, where he has his own", async () => {
  const pool = await openPrepared();

  const failing = pool.atOnce(
    async (tx) =>
      await known(tx, 0).catch((error: unknown) => {
        throw new Error("there was one", { cause: error });
      }),
  );

  await expect(failing).rejects.toThrow("there was one");
  expect(await pool.atOnce(async (tx) => await known(tx, 1))).toEqual([{ n: 1 }]);
});

it("gives its connection back where the work throws before it asks for anything", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 2_000, applicationName: "thrown" });
  onTestFinished(async () => await pool.close());

  const failing = pool.atOnce(() => {
    throw new Error("not even begun");
  });

  await expect(failing).rejects.toThrow("not even begun");
  await expect(pool.atOnce(async (tx) => await known(tx, 1))).resolves.toEqual([{ n: 1 }]);
});

it("whoever asked hears of a failure before the caller", async () => {
  const proxy = await openFaultProxy(box.db.url);
  onTestFinished(async () => await proxy.close());
  const pool = await openPrepared(proxy.url);
  const heard: string[] = [];

  const lost = proxy.cutAfterCommit();
  const failing = pool
    .atOnce(async (tx) => {
      try {
        return await known(tx, 1);
      } catch (error) {
        // Some steps later, as where several functions lie in between.
        for (let step = 0; step < 50; step += 1) await Promise.resolve();
        heard.push("asked");
        throw error;
      }
    })
    .catch(() => heard.push("caller"));

  await Promise.all([lost, failing]);
  expect(heard).toEqual(["asked", "caller"]);
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }, { n: 1 }]);
});

it("the first of a connection may fail: nobody takes for prepared what was not read", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 20_000, applicationName: "unprepared" });
  onTestFinished(async () => await pool.close());

  await expect(pool.atOnce(async (tx) => await known(tx, 1), "SELECT 1 / 0")).rejects.toMatchObject({
    code: "22012",
  });

  for (const n of [1, 2, 3])
    await expect(pool.atOnce(async (tx) => await known(tx, n))).resolves.toEqual([{ n }]);
});
