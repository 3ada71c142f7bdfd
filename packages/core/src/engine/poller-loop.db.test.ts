/** When a started instance asks after outside jobs. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { startIn } from "../../test/started.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { letGo } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";

const box = await openFixture(inject("adminUrl"));
const { create, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

it("asks after outside jobs when they are due, however long its poll interval is", async () => {
  let asked = 0;
  const cloud = defineTask({
    kind: "cloud",
    run: () => letGo({ handle: 1, pollInMs: 10, deadlineInMs: 60_000 }),
    poll: async () => {
      asked += 1;
      return asked < 3 ? { kind: "running", pollInMs: 10 } : { kind: "succeeded" };
    },
  });
  const scheduler = create({ tasks: [cloud], pollIntervalMs: 60_000 });
  await scheduler.start();

  const { taskRunId } = await scheduler.enqueue(cloud.task(null));

  await waitUntil("the job is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
  expect(asked).toBe(3);
});

it("does not look for outside jobs while it asks as many as it can, and looks again with the first answer", async () => {
  const answers: (() => void)[] = [];
  const cloud = defineTask({
    kind: "cloud",
    run: () => letGo({ handle: 1, pollInMs: 0, deadlineInMs: 60_000 }),
    poll: async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { kind: "succeeded" };
    },
  });
  let passes = 0;
  const scheduler = create({
    tasks: [cloud, echo],
    slots: 50,
    leaseMs: 60_000,
    pollIntervalMs: 60_000,
    drainMs: 0,
    obeyMs: 0,
    onEvent: (event) => {
      if (event.type === "loop.passed" && event.loop === "poller") passes += 1;
    },
  });
  await scheduler.start();
  await scheduler.enqueueMany(Array.from({ length: 21 }, () => cloud.task(null)));
  const jobs = async (): Promise<unknown> => await box.value("SELECT count(*) FROM signalbox.outside_job");
  await waitUntil("all go on outside", async () => (await jobs()) === "21");
  await waitUntil("it asks after 20", () => answers.length === 20);

  const before = passes;
  for (let index = 0; index < 20; index += 1) {
    const { taskRunId } = await scheduler.enqueue(echo.task(index));
    await waitUntil("it is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
  }

  // The one that took the last of them may not have been counted yet.
  expect(passes - before).toBeLessThanOrEqual(2);
  answers[0]?.();
  await waitUntil("it asks after the last", () => answers.length === 21);
  for (const answer of answers) answer();
});
