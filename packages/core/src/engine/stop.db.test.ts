/** An instance that is stopped when something is in its way: it leaves in time, and loses no result that it can record. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { startIn } from "../../test/started.ts";
import { asInstanceId } from "../domain/ids.ts";
import { defineTask } from "../executors/define-task.ts";
import { claimTaskRuns } from "../store/task-runs/claim.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
const { running, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

it("a last result that could not be recorded at once is tried again before it leaves", async () => {
  const end = deferred<string>();
  const slow = defineTask({ kind: "slow", run: async () => await end.promise });
  const clearedAway = deferred();
  let failures = 0;
  const onEvent = (event: SchedulerEvent): void => {
    if (event.type !== "loop.failed" || event.loop !== "settler") return;
    failures += 1;
    // Once by its loop, once by the stop.
    if (failures === 2)
      void box.query("DELETE FROM signalbox.task_run_result").then(() => clearedAway.resolve());
  };
  const { scheduler, taskRunId } = await running(slow, { onEvent });
  await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [
    taskRunId,
  ]);

  const stopping = scheduler.stop();
  end.resolve("well");
  await clearedAway.promise;
  await stopping;

  expect(await box.statusOf(taskRunId)).toBe("DONE");
  expect(await box.value("SELECT count(*) FROM signalbox.instance WHERE state <> 'DEAD'")).toBe("0");
});

it("a result that cannot be recorded keeps no claim from going back whose answer was lost", async () => {
  const end = deferred<string>();
  const slow = defineTask({ kind: "slow", run: async () => await end.promise });
  const onEvent = (event: SchedulerEvent): void => {
    if (event.type === "task_run.handed_back") void box.query("DELETE FROM signalbox.task_run_result");
  };
  // No beat that would wake the reconciler's own loop.
  const { scheduler, taskRunId } = await running(slow, { onEvent, slots: 1, beatMs: 14_000 });
  await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [
    taskRunId,
  ]);
  const lost = await scheduler.enqueue(slow.task(null));
  const instanceId = asInstanceId(await box.value<string>("SELECT boot_id FROM signalbox.instance"));
  const request = { instanceId, kinds: ["slow"], freeSlots: 1, requestNo: 99 };
  await box.pool("unheard").transaction(async (tx) => (await claimTaskRuns(tx, request)).claims);

  end.resolve("well");
  await scheduler.stop();

  expect(await box.statusOf(lost.taskRunId)).toBe("PENDING");
  expect(await box.statusOf(taskRunId)).toBe("DONE");
});

it("what never ends although it says so keeps it for a while, and nobody gets its work before the lease is over", async () => {
  const end = deferred();
  const hung = { ...defineTask({ kind: "hung", run: async () => await end.promise }), obeyMs: Infinity };
  const events: SchedulerEvent[] = [];
  const { scheduler, taskRunId } = await running(hung, {
    drainMs: 0,
    obeyMs: 0,
    onEvent: (event) => events.push(event),
  });

  await scheduler.stop();

  expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  expect(await box.query("SELECT state FROM signalbox.instance")).toEqual([{ state: "DRAINING" }]);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "loop.failed",
      loop: "draining",
      error: expect.objectContaining({ message: expect.stringContaining("did not end") }),
    }),
  );
  end.resolve();
});
