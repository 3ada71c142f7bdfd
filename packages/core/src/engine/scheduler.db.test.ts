/** The life of a started instance, with its timers and its thread. */

import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { startIn, untilTold } from "../../test/started.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import { takeClaimLock } from "../store/holds/claim-lock.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
const { create, running, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

async function liveInstances(): Promise<number> {
  return Number(await box.value("SELECT count(*) FROM signalbox.instance WHERE state <> 'DEAD'"));
}

it("runs what is enqueued, and is gone from the cluster when it has stopped", async () => {
  const scheduler = create();
  await scheduler.start();

  const { taskRunId } = await scheduler.enqueue(echo.task({ a: 1 }));
  await waitUntil("it is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
  await scheduler.stop();

  expect(await liveInstances()).toBe(0);
});

it("runs what came with a late transaction under older rules of its queue, without waiting for the slow sweep", async () => {
  const scheduler = create({ pollIntervalMs: 200 });
  await scheduler.start();
  const { client } = box.db;
  await client.query("BEGIN");
  const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }), { transaction: client });
  await scheduler.pause({ queue: "mail" });
  await scheduler.resume({ queue: "mail" });
  await client.query("COMMIT");

  await waitUntil("it is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
});

it("leaves nothing behind when it is stopped while it starts", async () => {
  const scheduler = create();

  const starting = scheduler.start();
  await scheduler.stop();
  await starting;

  expect(await liveInstances()).toBe(0);
});

describe("the thread that renews the lease", () => {
  const threads: Worker[] = [];
  const note = (thread: Worker): void => void threads.push(thread);
  beforeEach(() => {
    threads.length = 0;
    process.on("worker", note);
  });
  afterEach(() => process.off("worker", note));

  it("runs before the lease begins, however long it takes to start", async () => {
    const locked = await leaveOpen(
      box.pool("holder"),
      async (tx) =>
        await tx.query({
          name: "lock",
          text: "LOCK TABLE signalbox.instance IN SHARE ROW EXCLUSIVE MODE",
          values: [],
        }),
    );
    const scheduler = create({ name: "joining" });
    const starting = scheduler.start();
    await waitUntilBlocked(box.db.client, "signalbox joining");

    expect(threads).toHaveLength(1);

    await locked.commit();
    await starting;
    expect(threads).toHaveLength(1);
  });

  it("ends with a start that fails, and the next start has another", async () => {
    await box.query("ALTER TABLE signalbox.instance ADD CONSTRAINT nobody CHECK (false) NOT VALID");
    const scheduler = create();
    try {
      await expect(scheduler.start()).rejects.toMatchObject({ code: "23514" });
      expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
    } finally {
      await box.query("ALTER TABLE signalbox.instance DROP CONSTRAINT nobody");
    }

    await scheduler.start();
    expect(await liveInstances()).toBe(1);
  });
});

it("answers a second stop when the first has ended, not before", async () => {
  const scheduler = create();
  await scheduler.start();

  const first = scheduler.stop();
  await scheduler.stop();

  expect(await liveInstances()).toBe(0);
  await first;
});

it("starts once: a second start is refused, also after it was stopped", async () => {
  const scheduler = create();
  await scheduler.start();

  await expect(scheduler.start()).rejects.toMatchObject({ code: "ALREADY_STARTED" });
  await scheduler.stop();
  await expect(scheduler.start()).rejects.toMatchObject({ code: "ALREADY_STARTED" });
});

it.each([
  [
    "throws",
    () => {
      throw new Error("I did not want to know");
    },
  ],
  // A rejection that nobody handles fails the test run.
  ["rejects", (() => Promise.reject(new Error("I did not want to know"))) as () => void],
])("goes on when the one who is told of its events %s", async (_, onEvent) => {
  const scheduler = create({
    onEvent,
  });
  await scheduler.start();

  const { taskRunId } = await scheduler.enqueue(echo.task(1));

  await waitUntil("it is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
});

it("stops while its listener's connection is dead on the other side", async () => {
  const scheduler = create();
  await scheduler.start();
  await box.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox listener' AND datname = current_database()",
  );

  await scheduler.stop();

  expect(await liveInstances()).toBe(0);
});

describe("stop", () => {
  it("hands back what it is given while it leaves, unstarted", async () => {
    let starts = 0;
    const counted = defineTask({ kind: "counted", run: () => void (starts += 1) });
    const scheduler = create({ tasks: [counted], name: "leaver" });
    await scheduler.start();
    const lock = await leaveOpen(box.pool("rules"), async (tx) => await takeClaimLock(tx));
    const { taskRunId } = await scheduler.enqueue(counted.task(null));
    await waitUntilBlocked(box.db.client, "signalbox leaver");

    const stopping = scheduler.stop();
    await lock.commit();
    await stopping;

    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(starts).toBe(0);
    expect(await box.query("SELECT type FROM signalbox.event_store")).toEqual([
      { type: "task_run.handed_back" },
    ]);
  });

  it("waits for what runs, and lets it end well", async () => {
    const end = deferred<string>();
    const slow = defineTask({
      kind: "slow",
      run: async (_, { signal }) =>
        `${await end.promise}, ${signal.aborted ? "though told to stop" : "untold"}`,
    });
    const { scheduler, taskRunId } = await running(slow, { drainMs: 60_000 });

    const stopping = scheduler.stop();
    await waitUntil(
      "it drains",
      async () => (await box.value("SELECT state FROM signalbox.instance")) === "DRAINING",
    );
    end.resolve("well");
    await stopping;

    const other = await box.scheduler();
    expect(await other.get(taskRunId)).toMatchObject({ status: "DONE", output: "well, untold" });
  });

  it("then tells it to end: SHUTDOWN, by its policy for a lost instance, and nothing is left RUNNING", async () => {
    const slow = defineTask({ kind: "slow", run: async (_, { signal }) => await untilTold(signal) });
    const { scheduler, taskId, taskRunId } = await running(slow, { drainMs: 0 });

    await scheduler.stop();

    const other = await box.scheduler();
    expect(await other.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "SHUTDOWN" });
    expect(await other.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
    expect((await other.checkInvariants()).violations).toEqual([]);
  });

  it("fails what ignores that with HANDLER_STUCK, and keeps what it held alone for its next attempt", async () => {
    const end = deferred<void>();
    const events: SchedulerEvent[] = [];
    const stubborn = defineTask({ kind: "stubborn", run: async () => await end.promise });
    const { scheduler, taskId, taskRunId } = await running(
      stubborn,
      { drainMs: 0, obeyMs: 50, onEvent: (event) => events.push(event) },
      { resources: [exclusive("orders")] },
    );

    await scheduler.stop();

    expect(await liveInstances()).toBe(0);
    const other = await box.scheduler();
    expect(await other.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "HANDLER_STUCK" });
    // A shutdown is no fault of the task: no attempt is spent.
    expect(await other.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
    expect(await box.query("SELECT reserved_for FROM signalbox.hold")).toEqual([{ reserved_for: taskId }]);
    expect(events).toContainEqual(expect.objectContaining({ type: "task_run.stuck", taskRunId, stuck: 1 }));
    end.resolve();
  });

  it("leaves to others what can be found by its handle, with onLost resume", async () => {
    const kept = deferred<void>();
    const keeper = defineTask({
      kind: "keeper",
      run: async (_, { keepHandle, signal }) => {
        await keepHandle("job-1", { deadlineInMs: 60_000 });
        kept.resolve();
        await untilTold(signal);
      },
      poll: async (handle) => ({ kind: "succeeded", output: handle }),
    });
    const { scheduler, taskRunId } = await running(keeper, { drainMs: 0 }, { onLost: "resume" });
    await kept.promise;

    await scheduler.stop();

    const other = await box.scheduler({ tasks: [keeper] });
    expect(await other.get(taskRunId)).toMatchObject({ status: "RUNNING", attempt: 1, claimedBy: null });
    expect(await other.poll()).toEqual([taskRunId]);
    await other.execute();
    await other.settle();
    expect(await other.get(taskRunId)).toMatchObject({ status: "DONE", output: "job-1" });
    expect((await other.checkInvariants()).violations).toEqual([]);
  });
});

it("ends what runs too long although it blocks the event loop, and keeps its lease meanwhile", async () => {
  const events: SchedulerEvent[] = [];
  const blocking = defineTask({
    kind: "blocking",
    run: () => {
      const until = performance.now() + 4_000;
      while (performance.now() < until);
      return "too late";
    },
  });
  // Trusted for less than the loop is blocked, and for longer than a busy machine takes to start the thread.
  const leaseMs = 5_000;
  const scheduler = create({
    tasks: [blocking],
    leaseMs,
    obeyMs: 200,
    onEvent: (event) => events.push(event),
  });
  await scheduler.start();
  // From sources the thread takes seconds to load, and so long nobody watches.
  await waitUntil(
    "its thread beats",
    async () => await box.value("SELECT beat_at > started_at + interval '50 ms' FROM signalbox.instance"),
  );
  const { taskRunId } = await scheduler.enqueue(blocking.task(null, { timeouts: { runningMs: 300 } }));
  await waitUntil("its result came", () => events.some(({ type }) => type === "task_run.refused"));

  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "HANDLER_STUCK" });
  const ranMs = await box.value<number>(
    "SELECT (extract(epoch FROM finished_at - claimed_at) * 1000)::float8 FROM signalbox.task_run",
  );
  expect(ranMs).toBeLessThan(3_900);
  expect(events.map(({ type }) => type)).toContain("task_run.overdue");
  expect(events.map(({ type }) => type)).not.toContain("instance.fenced");
});

it("fails what waits for too long by itself", async () => {
  const scheduler = create({ tasks: [] });
  await scheduler.start();

  const { taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts: { queuedMs: 50 } }));

  await waitUntil("it is FAILED", async () => (await box.statusOf(taskRunId)) === "FAILED");
  expect(await scheduler.get(taskRunId)).toMatchObject({ outcome: "QUEUE_TIMEOUT" });
});

it("refuses ids that are none with a code, instead of an error of the database", async () => {
  const scheduler = create();

  await expect(scheduler.setRunLimit("abc" as never, 1)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await expect(scheduler.list({ runId: "abc" as never })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await expect(scheduler.explain("not an id")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});
