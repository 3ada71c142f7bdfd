/** An instance that is stopped when something is in its way: it leaves in time. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { startIn } from "../../test/started.ts";
import { defineTask } from "../executors/define-task.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
const { running, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

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
