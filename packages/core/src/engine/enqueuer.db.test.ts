import pg from "pg";
import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function countOf(table: string): Promise<number> {
  return await box.value(`SELECT count(*)::integer FROM signalbox.${table}`);
}

/** A connection of the caller's own, as his service has it. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: box.db.url, query_timeout: 20_000 });
  await client.connect();
  return client;
}

it("makes a task run without a gate AVAILABLE at once, and one with a gate PENDING", async () => {
  const scheduler = await box.scheduler();

  const free = await scheduler.enqueue(echo.task(1));
  const gated = await scheduler.enqueue(echo.task(2, { resources: [exclusive("orders")] }));

  expect([free.status, gated.status]).toEqual(["AVAILABLE", "PENDING"]);
  expect(await scheduler.get(free.taskRunId)).toMatchObject({ status: "AVAILABLE", attempt: 1, input: 1 });
  expect(await scheduler.get(gated.taskRunId)).toMatchObject({ status: "PENDING", availableAt: null });
});

it("keeps everything that was said about a task", async () => {
  const scheduler = await box.scheduler();
  const runAt = new Date("2030-01-01T00:00:00.000Z");
  const said = {
    title: "Add a column",
    priority: 2,
    runAt,
    version: "20261115.3",
    resources: [exclusive("orders"), shared("disk")],
  };

  const { taskRunId, taskId } = await scheduler.enqueue(echo.task({ table: "orders" }, said));

  expect(await scheduler.get(taskRunId)).toMatchObject({
    ...said,
    taskId,
    runId: null,
    kind: "echo",
    input: { table: "orders" },
    blockedOn: "RUN_AT",
    attempt: 1,
    rowVersion: 1,
  });
});

it("answers many in the order in which they were given, and their ids rise in that order", async () => {
  const scheduler = await box.scheduler();
  const numbers = Array.from({ length: 200 }, (_, index) => index);

  const { taskRuns, runId } = await scheduler.enqueueMany(numbers.map((number) => echo.task(number)));

  const inputs = await box.query<{ input: number }>(
    `SELECT k.input FROM unnest($1::uuid[]) WITH ORDINALITY AS g (id, place)
       JOIN signalbox.task_run AS t ON t.id = g.id JOIN signalbox.task AS k ON k.id = t.task_id
      ORDER BY place`,
    [taskRuns.map(({ taskRunId }) => taskRunId)],
  );
  expect(runId).toBeNull();
  expect(inputs.map(({ input }) => input)).toEqual(numbers);
  const ids = taskRuns.map(({ taskRunId }) => taskRunId);
  expect(ids).toEqual(ids.toSorted());
});

it("answers each of many with its own ids, also where they look different", async () => {
  const scheduler = await box.scheduler();
  const free = { kind: "echo", title: "free" };
  const held = { kind: "echo", title: "held", resources: [exclusive("orders")] };
  const given = [free, free, held, free, held, held].map((spec, input) => ({ ...spec, input }));

  const { taskRuns } = await scheduler.enqueueMany(given);

  const stored = await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.get(taskRunId)));
  expect(stored.map(({ taskId, title, input, status }) => ({ taskId, title, input, status }))).toEqual(
    given.map(({ title, input }, index) => ({
      taskId: taskRuns[index]?.taskId,
      title,
      input,
      status: taskRuns[index]?.status,
    })),
  );
  expect(stored.map(({ status }) => status === "PENDING")).toEqual([false, false, true, false, true, true]);
});

it.each([
  ["by themselves", {}],
  ["under a key", { idempotencyKey: "once" }],
])("parks those of many %s that wait for a smaller version of them, without a pass", async (_, options) => {
  const scheduler = await box.scheduler();
  const of = (version: string) => echo.task(version, { resources: [shared("orders")], version });

  await scheduler.enqueueMany([of("2"), of("1"), of("3")], options);

  expect(
    await box.query(`SELECT version::text, blocked_on, blocked_key FROM signalbox.waiting ORDER BY version`),
  ).toEqual([
    { version: "{1}", blocked_on: null, blocked_key: null },
    { version: "{2}", blocked_on: "VERSION_ORDER", blocked_key: "orders" },
    { version: "{3}", blocked_on: "VERSION_ORDER", blocked_key: "orders" },
  ]);
});

it("makes ids of uuid version 7, by the database's clock, of which no two are the same", async () => {
  const scheduler = await box.scheduler();
  const specs = Array.from({ length: 300 }, (_, n) => echo.task(n, { priority: n % 3 }));

  const answers = [await scheduler.enqueueMany(specs), await scheduler.enqueueMany(specs)];

  const ids = answers.flatMap(({ taskRuns }) =>
    taskRuns.flatMap(({ taskId, taskRunId }) => [taskId, taskRunId]),
  );
  expect(new Set(ids).size).toBe(1_200);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const far = `SELECT count(*)::integer FROM signalbox.task_run
                WHERE abs(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint
                          - date_part('epoch', enqueued_at) * 1000) > 1000`;
  expect(await box.value(far)).toBe(0);
});

it("puts many into one run that counts them", async () => {
  const scheduler = await box.scheduler();

  const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
    run: { title: "nightly", limit: 1 },
  });

  expect(taskRuns.map(({ status }) => status)).toEqual(["PENDING", "PENDING"]);
  expect(
    await box.query("SELECT id, title, status, task_limit, open_tasks, finished_at FROM signalbox.run"),
  ).toEqual([
    { id: runId, title: "nightly", status: "RUNNING", task_limit: 1, open_tasks: 2, finished_at: null },
  ]);
});

it("writes nothing at all when one of many is refused", async () => {
  const scheduler = await box.scheduler();
  const specs = [echo.task(1), echo.task(2, { priority: 10 })];

  const refused = scheduler.enqueueMany(specs, { run: { title: "nightly" } });

  await expect(refused).rejects.toMatchObject({ code: "INVALID_TASK", details: { at: "tasks[1].priority" } });
  expect([await countOf("task"), await countOf("task_run"), await countOf("run")]).toEqual([0, 0, 0]);
});

it("refuses an input that the kind's schema refuses", async () => {
  const picky = defineTask({
    kind: "picky",
    schema: {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ issues: [{ message: "is too short" }] }),
      },
    },
    run: () => null,
  });
  const scheduler = await box.scheduler({ tasks: [picky] });

  await expect(scheduler.enqueue(picky.task("x"))).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await countOf("task")).toBe(0);
});

it("is there exactly when the caller's transaction commits", async () => {
  const scheduler = await box.scheduler();
  const caller = await connect();
  await caller.query("BEGIN");

  const { taskRunId } = await scheduler.enqueue(echo.task(1), { transaction: caller });
  await scheduler.enqueue(echo.task(2, { resources: [exclusive("orders")] }), { transaction: caller });

  expect(await scheduler.claim()).toEqual([]);
  await caller.query("COMMIT");
  expect(await scheduler.claim()).toEqual([taskRunId]);
  expect(await countOf("waiting")).toBe(1);
  await caller.end();
});

it("leaves nothing behind when the caller's transaction rolls back", async () => {
  const scheduler = await box.scheduler();
  const caller = await connect();
  await caller.query("BEGIN");

  await scheduler.enqueueMany(
    [echo.task(1), echo.task(2, { resources: [exclusive("orders")], version: "1" })],
    {
      run: { title: "nightly" },
      transaction: caller,
    },
  );
  await caller.query("ROLLBACK");

  for (const table of ["run", "task", "task_run", "waiting", "ready", "open_version"]) {
    expect(await countOf(table), table).toBe(0);
  }
  await caller.end();
});

it("tells the listeners with the caller's commit, once per channel and not before", async () => {
  const scheduler = await box.scheduler();
  const [caller, listener] = [await connect(), await connect()];
  const heard: string[] = [];
  listener.on("notification", ({ channel }) => heard.push(channel));
  await listener.query("LISTEN signalbox_gate; LISTEN signalbox_ready; LISTEN test_end");
  const free = [echo.task(1), echo.task(2)];

  await caller.query("BEGIN");
  await scheduler.enqueueMany([...free, echo.task(3, { resources: [shared("disk")] })], {
    transaction: caller,
  });
  await listener.query("SELECT 1");
  const heardBefore = [...heard];
  await caller.query("COMMIT; NOTIFY test_end");
  await waitUntil("the end is heard", () => heard.includes("test_end"));

  expect(heardBefore).toEqual([]);
  expect(heard.toSorted()).toEqual(["signalbox_gate", "signalbox_ready", "test_end"]);
  await Promise.all([caller.end(), listener.end()]);
});
