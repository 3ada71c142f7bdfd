/** Many callers, each with one task: what they are told is theirs, however many went together. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { type ResolvedTask, resolveTaskSpec } from "../domain/task-spec.ts";
import type { Pool } from "../store/database.ts";
import { sql } from "../store/sql.ts";
import { createSingleEnqueues } from "./enqueue-together.ts";
import { createPlainInsert } from "./plain-insert.ts";
import { createScheduler } from "./scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const COUNT = 50;
const inputs = Array.from({ length: COUNT }, (_, n) => n);

it("those that come while others are on their way go together, and each is told of its own", async () => {
  const scheduler = await box.scheduler();

  const enqueued = await Promise.all(inputs.map(async (n) => await scheduler.enqueue(echo.task(n))));

  const rows = await box.query<{ id: string; input: number; by: string }>(
    "SELECT t.id, k.input, k.xmin AS by FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id",
  );
  const inputOf = new Map(rows.map(({ id, input }) => [id, input]));
  expect(enqueued.map(({ taskRunId }) => inputOf.get(taskRunId))).toEqual(inputs);
  // The first two go alone; while they are on their way, all the others come.
  expect(new Set(rows.map(({ by }) => by)).size).toBe(3);
});

it("what the database refuses of one is refused to that one, and the others are there", async () => {
  const scheduler = await box.scheduler();
  await box.query("ALTER TABLE signalbox.task ADD CONSTRAINT planted CHECK (input <> '7') NOT VALID");
  try {
    const calls = await Promise.allSettled(inputs.map(async (n) => await scheduler.enqueue(echo.task(n))));

    expect(calls.flatMap(({ status }, n) => (status === "rejected" ? [n] : []))).toEqual([7]);
    expect(calls[7]).toMatchObject({ reason: { code: "23514" } });
    expect(await box.query("SELECT FROM signalbox.task")).toHaveLength(COUNT - 1);
  } finally {
    await box.query("ALTER TABLE signalbox.task DROP CONSTRAINT planted");
  }
});

it("a lost answer is unknown to each of those that went together", async () => {
  const proxy = await openFaultProxy(box.db.url);
  const scheduler = await box.scheduler({ databaseUrl: proxy.url });
  // Two that go alone are kept waiting, so that the others come together.
  const lock = await leaveOpen(box.pool("holder"), async (tx) => {
    await tx.query(sql("lock")`LOCK TABLE signalbox.task IN SHARE MODE`);
  });
  const alone = [scheduler.enqueue(echo.task("a")), scheduler.enqueue(echo.task("b"))];
  const blocked =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await expect.poll(async () => await box.value(blocked)).toBe("2");
  const calls = Promise.allSettled(inputs.map(async (n) => await scheduler.enqueue(echo.task(n))));
  // Theirs are under way already: the next COMMIT is that of the others.
  const cut = proxy.cutAfterCommit();
  await lock.commit();
  await Promise.all(alone);
  await cut;

  for (const call of await calls) expect(call).toMatchObject({ reason: { code: "ANSWER_LOST" } });
  expect(await box.query("SELECT FROM signalbox.task")).toHaveLength(COUNT + 2);
  await proxy.close();
});

describe("a statement of its own kind", () => {
  const plain = (input: unknown): ResolvedTask => resolveTaskSpec(echo.task(input), "task");
  const unreachable = (): Error => new Error("Too slow");

  it.each([
    ["one, with its own commit where it has the turn", 1, true, { heard: ["signalbox_ready"], sent: [] }],
    ["one, by a hint where it has not", 1, false, { heard: [], sent: ["signalbox_ready"] }],
    [
      "many, with their own commit where they have the turn",
      3,
      true,
      { heard: ["signalbox_ready"], sent: [] },
    ],
    ["many, by a hint where they have not", 3, false, { heard: [], sent: ["signalbox_ready"] }],
  ])("tells other instances of %s", async (_, count, hasTurn, expected) => {
    const sent: string[] = [];
    let turns = 0;
    const wakeups = {
      takeTurn: () => (hasTurn ? { end: () => void (turns += 1) } : null),
      wakeOwn: () => {},
      send: (channel: string) => void sent.push(channel),
    };
    const listener = box.db.client;
    const heard: string[] = [];
    listener.on("notification", ({ channel }) => heard.push(channel));
    await listener.query("LISTEN signalbox_ready; LISTEN signalbox_gate; LISTEN test_end");
    const insert = createPlainInsert(box.pool("enqueuer"), wakeups);
    const { enqueue } = createSingleEnqueues({ insert, patienceMs: 10_000, unreachable });

    if (count === 1) await enqueue(plain(1));
    else await insert(inputs.slice(0, count).map(plain));

    await box.query("NOTIFY test_end");
    await expect.poll(() => heard.at(-1)).toBe("test_end");
    await listener.query("UNLISTEN *");
    expect({ heard: heard.slice(0, -1), sent }).toEqual(expected);
    expect(turns).toBe(hasTurn ? 1 : 0);
  });

  it.each([
    ["insertUngatedTask", 1],
    ["insertManyUngated", 2],
  ])("goes by the short one (%s) again when the rules of its queue are gone", async (short, count) => {
    const scheduler = await box.scheduler();
    await scheduler.pause({ queue: "default" });
    const sent: string[] = [];
    const pool = box.pool("enqueuer");
    const listening: Pool = {
      ...pool,
      atOnce: async (work, first) =>
        await pool.atOnce(
          async (tx) =>
            await work({
              ...tx,
              query: async (statement) => {
                sent.push(statement.name);
                return await tx.query(statement);
              },
            }),
          first,
        ),
    };
    const wakeups = { takeTurn: () => null, wakeOwn: () => {}, send: () => {} };
    const insert = createPlainInsert(listening, wakeups);
    const enqueue = async () => await insert(inputs.slice(0, count).map(plain));

    await enqueue();
    await enqueue();
    await scheduler.resume({ queue: "default" });
    await enqueue();
    await enqueue();

    expect(sent).toEqual([short, "insertTasks", "insertTasks", "insertTasks", short]);
  });

  it("does not wait for those before it without end", async () => {
    const wakeups = { takeTurn: () => null, wakeOwn: () => {}, send: () => {} };
    const insert = createPlainInsert(box.pool("enqueuer"), wakeups);
    const { enqueue } = createSingleEnqueues({ insert, patienceMs: -1, unreachable });

    await expect(enqueue(plain(1))).rejects.toThrow("Too slow");
    expect(await box.query("SELECT FROM signalbox.task")).toEqual([]);
  });
});

it("one that the server gives up is not done, and is told so", async () => {
  const scheduler = createScheduler({ databaseUrl: box.db.url, queryTimeoutMs: 1_000 });
  const lock = await leaveOpen(box.pool("holder"), async (tx) => {
    await tx.query(sql("lock")`LOCK TABLE signalbox.task IN SHARE MODE`);
  });

  await expect(scheduler.enqueue(echo.task(1))).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });

  await lock.commit();
  await scheduler.stop();
  expect(await box.query("SELECT FROM signalbox.task")).toEqual([]);
});

it("who has called before stop is answered, however many wait", async () => {
  const scheduler = createScheduler({ databaseUrl: box.db.url });

  const calls = Array.from({ length: 50 }, async (_, n) => await scheduler.enqueue(echo.task(n)));
  await scheduler.stop();

  expect(new Set((await Promise.all(calls)).map(({ taskRunId }) => taskRunId)).size).toBe(50);
});
