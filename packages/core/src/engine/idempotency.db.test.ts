/** An enqueue with a key happens once, however often and from however many processes it is called (S15). */

import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { prepareEnqueue } from "./enqueuer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const count = async (table: string): Promise<number> =>
  Number(await box.value<string>(`SELECT count(*) FROM signalbox.${table}`));
const writing = async (spec: TaskSpec, idempotencyKey = "order-42") =>
  (await prepareEnqueue({ specs: [spec], run: null, idempotencyKey }, new Map())).write;

describe("the same key and the same request", () => {
  it("answer what they answered the first time, and enqueue nothing", async () => {
    const [one, other] = [await box.scheduler(), await box.scheduler()];
    const first = await one.enqueue(echo.task({ a: 1, b: 2 }), { idempotencyKey: "order-42" });

    const again = await other.enqueue(echo.task({ b: 2, a: 1 }, { priority: 5 }), {
      idempotencyKey: "order-42",
    });

    expect(again).toEqual(first);
    expect([await count("task"), await count("task_run"), await count("ready")]).toEqual([1, 1, 1]);
  });

  it("do so whatever has become of it: done, or gone", async () => {
    const scheduler = await box.scheduler();
    const request = [
      echo.task(1, { resources: [exclusive("orders")] }),
      { idempotencyKey: "order-42" },
    ] as const;
    const first = await scheduler.enqueue(...request);

    await scheduler.runUntilIdle();
    expect(await scheduler.enqueue(...request)).toEqual(first);
    await box.query("DELETE FROM signalbox.task_run");
    await box.query("DELETE FROM signalbox.task");
    expect(await scheduler.enqueue(...request)).toEqual(first);
    expect(await count("task")).toBe(0);
  });

  it("stand for a whole call: all tasks of it, and its run", async () => {
    const scheduler = await box.scheduler();
    const specs = [echo.task(1), echo.task(2), echo.task(3)];
    const options = { run: { title: "nightly", limit: 2 }, idempotencyKey: "nightly-7" };

    const first = await scheduler.enqueueMany(specs, options);

    expect(await scheduler.enqueueMany(specs, options)).toEqual(first);
    expect([await count("run"), await count("task")]).toEqual([1, 3]);
  });

  it("with an answer that was lost: the repeated call finds what the first one did", async () => {
    const proxy = await openFaultProxy(box.db.url);
    const scheduler = await box.scheduler({ databaseUrl: proxy.url });
    const enqueue = async () => await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" });

    const cut = proxy.cutAfterCommit();
    await expect(enqueue()).rejects.toMatchObject({ code: "ANSWER_LOST" });
    await cut;
    const again = await enqueue();

    expect((await scheduler.list()).taskRuns).toMatchObject([{ taskRunId: again.taskRunId }]);
    await box.clear();
    await proxy.close();
  });
});

describe("the same key and another request", () => {
  it("are refused, and nothing is enqueued", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" });

    await expect(scheduler.enqueue(echo.task(2), { idempotencyKey: "order-42" })).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_REUSED",
      details: { key: "order-42" },
    });
    await expect(
      scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" }, idempotencyKey: "order-42" }),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await count("task")).toBe(1);
  });

  it("another key is another call, and a call without one always enqueues", async () => {
    const scheduler = await box.scheduler();
    for (const idempotencyKey of ["a", "b"]) await scheduler.enqueue(echo.task(1), { idempotencyKey });
    for (let i = 0; i < 2; i += 1) await scheduler.enqueue(echo.task(1));

    expect(await count("task")).toBe(4);
  });

  it("a request that is refused does not use its key up", async () => {
    const scheduler = await box.scheduler();
    await expect(
      scheduler.enqueue(echo.task(1, { priority: 10 }), { idempotencyKey: "order-42" }),
    ).rejects.toMatchObject({ code: "INVALID_TASK" });

    await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" });
    expect(await count("task")).toBe(1);
  });
});

describe("two calls at once", () => {
  it("the second waits for the commit of the first and answers the same ids", async () => {
    const write = await writing(echo.task(1));
    const first = await leaveOpen(box.pool("first"), write);

    const second = box.pool("second").transaction(write);
    await waitUntilBlocked(box.db.client, "second");
    await first.commit();

    expect(await second).toEqual(first.result);
    expect(await count("task")).toBe(1);
  });

  it("the second enqueues where the first was rolled back", async () => {
    const write = await writing(echo.task(1));
    const first = await leaveOpen(box.pool("first"), write);

    const second = box.pool("second").transaction(write);
    await waitUntilBlocked(box.db.client, "second");
    await first.rollBack();

    const { taskRuns } = await second;
    expect(taskRuns).not.toEqual(first.result.taskRuns);
    expect(await box.query("SELECT id FROM signalbox.task_run")).toEqual([{ id: taskRuns[0]?.taskRunId }]);
  });

  it("with another request: the second waits and is refused", async () => {
    const first = await leaveOpen(box.pool("first"), await writing(echo.task(1)));

    const second = box.pool("second").transaction(await writing(echo.task(2)));
    second.catch(() => {});
    await waitUntilBlocked(box.db.client, "second");
    await first.commit();

    await expect(second).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("a key that is forgotten while it is looked for is new again", async () => {
    const write = await writing(echo.task(1));
    await box.pool("first").transaction(write);
    const pool = box.pool("second");
    const atRead = pool.pauseBefore("readKey");

    const second = pool.transaction(write);
    await atRead.reached;
    await box.query("DELETE FROM signalbox.idempotency_key");
    atRead.resume();

    expect((await second).taskRuns).toHaveLength(1);
    expect([await count("task"), await count("idempotency_key")]).toEqual([2, 1]);
  });

  it("many at once, from several instances: one enqueues", async () => {
    const schedulers = await Promise.all(["a", "b", "c"].map(async (name) => await box.scheduler({ name })));
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const scheduler = schedulers[index % 3];
        return await scheduler?.enqueue(echo.task(1), { idempotencyKey: `order-${index % 5}` });
      }),
    );

    expect(new Set(answers.map((answer) => answer?.taskRunId)).size).toBe(5);
    expect(await count("task_run")).toBe(5);
  });
});

describe("in the caller's own transaction", () => {
  it("the key is used up exactly when the transaction commits", async () => {
    const scheduler = await box.scheduler();
    const client = new pg.Client({ connectionString: box.db.url });
    await client.connect();
    const enqueue = async () =>
      await scheduler.enqueue(echo.task(1), { transaction: client, idempotencyKey: "order-42" });

    await client.query("BEGIN");
    const lost = await enqueue();
    expect(await enqueue()).toEqual(lost);
    await client.query("ROLLBACK");
    expect(await count("idempotency_key")).toBe(0);

    await client.query("BEGIN");
    const kept = await enqueue();
    await client.query("COMMIT");
    await client.end();

    expect(kept.taskRunId).not.toBe(lost.taskRunId);
    expect(await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" })).toEqual(kept);
  });

  it("a key that is refused leaves the transaction usable", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" });
    await box.query("BEGIN");
    const transaction = box.db.client;

    await expect(
      scheduler.enqueue(echo.task(2), { transaction, idempotencyKey: "order-42" }),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
    await scheduler.enqueue(echo.task(2), { transaction, idempotencyKey: "order-43" });
    await box.query("COMMIT");

    expect(await count("task")).toBe(2);
  });

  it("a task that is refused does not use its key up, also where the transaction goes on and commits", async () => {
    const scheduler = await box.scheduler();
    const client = new pg.Client({ connectionString: box.db.url });
    await client.connect();
    const task = echo.task(1, { rate: "sms" });
    const idempotencyKey = "order-42";

    await client.query("BEGIN");
    await expect(scheduler.enqueue(task, { transaction: client, idempotencyKey })).rejects.toMatchObject({
      code: "UNKNOWN_RATE",
    });
    await client.query("COMMIT");
    await client.end();

    expect(await count("task")).toBe(0);
    await scheduler.setRate("sms", { amount: 1, perMs: 1_000 });
    expect(await scheduler.enqueue(task, { idempotencyKey })).toMatchObject({ status: "PENDING" });
  });
});
