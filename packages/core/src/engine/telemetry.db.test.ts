/** What a started instance tells about itself, and what its health says. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { closeDatabase } from "../../test/close-database.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { defineTask } from "../executors/define-task.ts";
import { defineProcess } from "../executors/process/define-process.ts";
import { createScheduler } from "./scheduler.ts";
import type { Scheduler } from "./scheduler-face.ts";
import type { SchedulerOptions } from "./settings.ts";
import type { SchedulerEvent } from "./telemetry.ts";

type EventOf<Type extends SchedulerEvent["type"]> = Extract<SchedulerEvent, { type: Type }>;

const box = await openFixture(inject("adminUrl"));
let started: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of started) await scheduler.stop();
  started = [];
  await box.clear();
});
afterAll(box.close);

interface Listening {
  readonly scheduler: Scheduler;
  readonly told: <Type extends SchedulerEvent["type"]>(type: Type) => readonly EventOf<Type>[];
}

function create(options: Partial<SchedulerOptions> = {}): Listening {
  const events: SchedulerEvent[] = [];
  const scheduler = createScheduler({
    databaseUrl: box.db.url,
    tasks: [echo],
    // Long: on a busy machine the thread of the lease takes seconds to start.
    leaseMs: 60_000,
    beatMs: 300,
    pollIntervalMs: 200,
    onEvent: (event) => events.push(event),
    ...options,
  });
  started.push(scheduler);
  const told: Listening["told"] = <Type extends SchedulerEvent["type"]>(type: Type) =>
    events.filter((event): event is EventOf<Type> => event.type === type);
  return { scheduler, told };
}

async function endConnections(condition: string): Promise<void> {
  await box.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`,
  );
}

it("tells how long a task run waited, how long nobody claimed it and how long it ran", async () => {
  const { scheduler, told } = create();
  const runAt = new Date(Date.now() - 60_000);
  const early = await scheduler.enqueue(echo.task(1, { title: "early", runAt }));
  await box.query("UPDATE signalbox.task_run SET enqueued_at = enqueued_at - interval '1 hour'");

  await scheduler.start();
  await waitUntil("it is settled", () => told("task_run.settled").length === 1);

  const [claimed] = told("task_run.claimed");
  const [settled] = told("task_run.settled");
  expect(claimed).toMatchObject({ taskRunId: early.taskRunId, kind: "echo", title: "early", attempt: 1 });
  // An hour ago it was enqueued, but not to be run before its run time a minute ago.
  expect(claimed?.waitedMs).toBeGreaterThan(50_000);
  expect(claimed?.waitedMs).toBeLessThan(120_000);
  expect(claimed?.availableMs).toBeGreaterThanOrEqual(0);
  expect(claimed?.availableMs).toBeLessThan(20_000);
  expect(settled).toMatchObject({ kind: "echo", status: "DONE", outcome: "SUCCEEDED" });
  expect(settled?.ranMs).toBeGreaterThan(0);
});

it("tells every pass of every loop, every beat, and what it saw of the database", async () => {
  const { scheduler, told } = create();
  const loops = [
    "carrier",
    "claimer",
    "joiner",
    "poller",
    "promoter",
    "pruner",
    "reconciler",
    "rescuer",
    "second settler",
    "settler",
    "timer",
    "watcher",
  ];
  await scheduler.start();

  await waitUntil(
    "every loop has passed",
    () => new Set(told("loop.passed").map(({ loop }) => loop)).size === loops.length,
  );
  await waitUntil("a beat is told", () => told("lease.renewed").length > 0);

  expect([...new Set(told("loop.passed").map(({ loop }) => loop))].toSorted()).toEqual(loops);
  expect(told("loop.passed").every(({ tookMs }) => tookMs > 0)).toBe(true);
  expect(told("lease.renewed")[0]?.tookMs).toBeGreaterThan(0);
  expect(told("database.watched")).toHaveLength(1);
});

it("tells that it cannot hear any more, and when it can again", async () => {
  const { scheduler, told } = create();
  await scheduler.start();
  const listening = `SELECT count(*) = 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'signalbox listener' AND query LIKE 'LISTEN%' AND state = 'idle'`;
  await waitUntil("it listens", async () => await box.value<boolean>(listening));

  await endConnections("application_name = 'signalbox listener'");
  await waitUntil("it hears again", () => told("listener.regained").length > 0);

  expect(told("listener.lost")).toHaveLength(1);
  expect(told("listener.regained")[0]?.deafMs).toBeGreaterThan(0);
});

it("tells a connection that broke while nobody used it", async () => {
  const { scheduler, told } = create({ name: "idle", pollIntervalMs: 60_000 });
  await scheduler.overview();

  await endConnections("application_name = 'signalbox idle'");

  await waitUntil("it is told", () => told("connection.lost").length > 0);
  expect(told("connection.lost")[0]?.error).toHaveProperty("code", "57P01");
});

it("is ready from its start until it is told to stop", async () => {
  const { scheduler, told } = create();
  const problems = (): readonly string[] => scheduler.health().problems;
  expect(problems()).toEqual(["NOT_STARTED"]);

  await scheduler.start();
  expect(scheduler.health()).toEqual({ ready: true, problems: [], slots: 10, executing: 0, stuck: 0 });

  const stopped = scheduler.stop();
  await waitUntil("it drains", () => told("instance.draining").length > 0);
  expect(problems()).toEqual(["DRAINING"]);

  await stopped;
  expect(problems()).toEqual(["NOT_STARTED"]);
});

it("tells a beat that failed, and is ready while its lease holds on", async () => {
  const { scheduler, told } = create();
  await scheduler.start();
  await waitUntil("a beat is told", () => told("lease.renewed").length > 0);

  const connections = await closeDatabase(inject("adminUrl"), box.db.url);
  try {
    await endConnections("application_name = 'signalbox lease'");
    // One that was under way when its connection was ended is told of that; the next one finds the database closed.
    const refused = () =>
      told("lease.renewal_failed").find(({ error }) => (error as { code?: string }).code === "55000");
    await waitUntil("a failure is told", () => refused() !== undefined);

    expect(refused()?.trustedForMs).toBeGreaterThan(10_000);
    expect(scheduler.health().ready).toBe(true);
  } finally {
    await connections.reopen();
  }
});

it("is not ready while it has no lease, and again when it has joined anew", async () => {
  const { scheduler, told } = create();
  await scheduler.start();
  await waitUntil("a beat is told", () => told("lease.renewed").length > 0);

  // Nothing but its thread has a connection, and that learns that others took the instance for dead.
  const connections = await closeDatabase(inject("adminUrl"), box.db.url);
  await endConnections("pid <> pg_backend_pid() AND application_name <> 'signalbox lease'");
  await box.query("UPDATE signalbox.instance SET state = 'DEAD'");
  await waitUntil("it has no lease", () => scheduler.health().problems.includes("NO_LEASE"));
  await connections.reopen();

  await waitUntil("it is ready again", () => scheduler.health().ready);
  expect(told("instance.joined")).toHaveLength(2);
});

it("says that its slots are stuck when what it told to stop goes on", async () => {
  let end = (): void => {};
  const stubborn = defineTask({
    kind: "stubborn",
    run: async () =>
      await new Promise<void>((resolve) => {
        end = resolve;
      }),
  });
  const { scheduler, told } = create({ tasks: [stubborn], slots: 2 });
  await scheduler.start();
  const { taskRunId } = await scheduler.enqueue(stubborn.task(null));
  await waitUntil("it runs", async () => (await box.statusOf(taskRunId)) === "RUNNING");
  await scheduler.cancel(taskRunId);

  await waitUntil("it is stuck", () => told("slots.stuck").length === 1);
  expect(told("slots.stuck")[0]).toMatchObject({ stuck: 1, slots: 2 });
  expect(scheduler.health()).toMatchObject({ ready: false, problems: ["SLOTS_STUCK"], executing: 1 });

  end();
  await waitUntil("it is free", () => told("slots.stuck").length === 2);
  expect(scheduler.health().ready).toBe(true);
});

it("tells which process a task run has, and how that ended", async () => {
  const program = defineProcess({ allowShell: true });
  const { scheduler, told } = create({ tasks: [program] });
  await scheduler.start();
  const { taskRunId } = await scheduler.enqueue(program.task({ shell: "echo $$; exit 3" }));
  await waitUntil("it is settled", () => told("task_run.settled").length === 1);

  const { entries } = await scheduler.readLog(taskRunId);
  const pid = Number(entries.find(({ stream }) => stream === "stdout")?.text);
  const [process] = told("process.started");
  expect(process).toMatchObject({ taskRunId, kind: "process", attempt: 1, pid });
  expect(process?.startTime ?? "none").toMatch(/^(\d+|none)$/);
  expect(told("process.ended")).toEqual([
    { ...process, type: "process.ended", exitCode: 3, signal: null, because: null, told: false },
  ]);
});
