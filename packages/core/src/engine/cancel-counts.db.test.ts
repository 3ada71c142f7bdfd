/** What a cancel of many says about those that were named by their ids: each is counted once. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import type { RunId } from "../domain/ids.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = { runAt: new Date("2090-01-01") };

it("by ids says how many there were of each answer, and takes each once", async () => {
  const scheduler = await box.scheduler();
  const done = await scheduler.enqueue(echo.task(1));
  await scheduler.runUntilIdle();
  const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
    run: { title: "nightly" },
  });
  const [first] = taskRuns;
  if (first === undefined) throw new Error("No task");
  const nobody = "00000000-0000-7000-8000-000000000000";

  const counts = await scheduler.cancelMany({
    ids: [first.taskId, first.taskRunId, first.taskId, done.taskRunId, nobody, "no id"],
  });

  expect(counts).toEqual({ canceled: 1, canceling: 0, ended: 1, notFound: 2 });
  expect(await box.value("SELECT open_tasks FROM signalbox.run")).toBe(1);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("by ids and more counts each id once, also what is not as the filter wants it", async () => {
  const scheduler = await box.scheduler({ slots: 1 });
  const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1, LATER), broken.task(2, LATER)], {
    run: { title: "nightly" },
  });
  const done = await scheduler.enqueue(echo.task(3));
  await scheduler.runUntilIdle();
  const running = await scheduler.enqueue(echo.task(4));
  await scheduler.claim();
  const available = await scheduler.enqueue(echo.task(5));
  const many = await scheduler.enqueueMany(
    Array.from({ length: 120 }, (_, index) => echo.task(index, LATER)),
  );
  const named = [...taskRuns, done, running, available, ...many.taskRuns].map(({ taskId }) => taskId);
  const nobody = "00000000-0000-7000-8000-000000000000";
  // Named a second time, and in another bite.
  const ids = [...named, nobody, ...many.taskRuns.slice(0, 3).map(({ taskRunId }) => taskRunId)];
  const left = named.length - 2;

  expect(await scheduler.cancelMany({ ids, kind: "echo", runId: runId ?? ("" as RunId) })).toEqual({
    canceled: 1,
    canceling: 0,
    ended: named.length - 1,
    notFound: 1,
  });
  expect(await scheduler.cancelMany({ ids, status: ["RUNNING"] })).toEqual({
    canceled: 0,
    canceling: 1,
    ended: named.length - 1,
    notFound: 1,
  });
  expect(await scheduler.cancelMany({ ids, status: ["PENDING", "AVAILABLE"] })).toEqual({
    canceled: left - 1,
    canceling: 0,
    ended: 3,
    notFound: 1,
  });
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});
