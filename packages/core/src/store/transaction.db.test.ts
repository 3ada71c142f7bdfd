/** A transaction that is sent at once and whose statements the session knows. */

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
const openTaught = async (url = box.db.url, first?: string): Promise<Pool> => {
  const pool = openPool({ url, size: 1, queryTimeoutMs: 20_000, applicationName: "taught" });
  onTestFinished(async () => await pool.close());
  await pool.atOnce(async (tx) => await known(tx, 0), first);
  // Behind what it was taught, which nobody waits for.
  await pool.transaction(backendOf);
  return pool;
};

it("is one message with one answer, and has committed then", async () => {
  const proxy = await openFaultProxy(box.db.url);
  onTestFinished(async () => await proxy.close());
  const pool = await openTaught(proxy.url);
  const both = async (tx: Transaction) => await Promise.all([known(tx, 1), known(tx, 2)]);
  await pool.atOnce(async (tx) => await known(tx, 3));
  const before = [proxy.packets(), proxy.answers()] as const;

  expect(await pool.atOnce(both)).toEqual([[{ n: 1 }], [{ n: 2 }]]);

  expect([proxy.packets() - before[0], proxy.answers() - before[1]]).toEqual([1, 1]);
  expect(await box.query("TABLE signalbox.left_behind")).toHaveLength(4);
});

it("writes nothing where one of its statements fails, and tells which; the connection is used again", async () => {
  const pool = await openTaught();
  const pid = await pool.transaction(backendOf);

  const failing = pool.atOnce(async (tx) => await Promise.all([known(tx, 1), known(tx, 1), known(tx, 2)]));

  await expect(failing).rejects.toMatchObject({ code: "23505" });
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }]);
  expect(await pool.transaction(backendOf)).toBe(pid);
  expect(await pool.atOnce(async (tx) => await known(tx, 5))).toEqual([{ n: 5 }]);
});

it("writes nothing where what opens it fails", async () => {
  const divide = "SELECT 1 / count(*) FROM signalbox.left_behind";
  await box.query("INSERT INTO signalbox.left_behind VALUES (7)");
  const pool = await openTaught(box.db.url, divide);
  await box.query("TRUNCATE signalbox.left_behind");

  const failing = pool.atOnce(async (tx) => await known(tx, 1), divide);

  await expect(failing).rejects.toMatchObject({ code: "22012" });
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([]);
});

it("does not commit the part before a value that cannot be sent", async () => {
  const pool = await openTaught();
  const endless: unknown[] = [{}];
  endless[0] = { endless };

  const failing = pool.atOnce(async (tx) => await Promise.all([known(tx, 1), known(tx, endless)]));

  await expect(failing).rejects.toThrow("circular");
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }]);
  expect(await pool.atOnce(async (tx) => await known(tx, 1))).toEqual([{ n: 1 }]);
});

it("whoever asked hears of a failure before the caller", async () => {
  const proxy = await openFaultProxy(box.db.url);
  onTestFinished(async () => await proxy.close());
  const pool = await openTaught(proxy.url);
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

it("the first of a connection may fail: nobody takes for known what was not read", async () => {
  const pool = openPool({ url: box.db.url, size: 1, queryTimeoutMs: 20_000, applicationName: "untaught" });
  onTestFinished(async () => await pool.close());

  await expect(pool.atOnce(async (tx) => await known(tx, 1), "SELECT 1 / 0")).rejects.toMatchObject({
    code: "22012",
  });

  for (const n of [1, 2, 3])
    await expect(pool.atOnce(async (tx) => await known(tx, n))).resolves.toEqual([{ n }]);
});
