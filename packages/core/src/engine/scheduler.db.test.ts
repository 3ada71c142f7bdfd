/** The life of a started instance, with its timers and its thread. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { defineTask } from "../executors/define-task.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import type { SchedulerOptions } from "./settings.ts";

const box = await openFixture(inject("adminUrl"));
let started: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of started) await scheduler.stop();
  started = [];
  await box.clear();
});
afterAll(box.close);

function create(options: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = createScheduler({
    databaseUrl: box.db.url,
    tasks: [echo],
    leaseMs: 3_000,
    beatMs: 300,
    pollIntervalMs: 200,
    ...options,
  });
  started.push(scheduler);
  return scheduler;
}

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

it("leaves nothing behind when it is stopped while it starts", async () => {
  const scheduler = create();

  const starting = scheduler.start();
  await scheduler.stop();
  await starting;

  expect(await liveInstances()).toBe(0);
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

it("goes on when the one who is told of its events throws", async () => {
  const scheduler = create({
    onEvent: () => {
      throw new Error("I did not want to know");
    },
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

it("does not let others take over what ignores its signal before the lease has run out", async () => {
  let end = (): void => {};
  const stubborn = defineTask({
    kind: "stubborn",
    run: async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    },
  });
  const scheduler = create({ tasks: [stubborn], drainMs: 0, leaseMs: 60_000 });
  await scheduler.start();
  const { taskRunId } = await scheduler.enqueue(stubborn.task(null));
  await waitUntil("it runs", async () => (await box.statusOf(taskRunId)) === "RUNNING");

  await scheduler.stop();
  const other = await box.scheduler();
  await other.rescue();

  expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  end();
});

it("refuses ids that are none with a code, instead of an error of the database", async () => {
  const scheduler = create();

  await expect(scheduler.setRunLimit("abc" as never, 1)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await expect(scheduler.list({ runId: "abc" as never })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await expect(scheduler.explain("not an id")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});
