/** Running timeouts of processes while the event loop of their instance is blocked: the warden keeps them. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { startIn } from "../../../test/started.ts";
import { waitUntil } from "../../../test/wait-until.ts";
import type { Timeouts } from "../../domain/settlement.ts";
import type { Scheduler } from "../../engine/scheduler-face.ts";
import { defineTask } from "../define-task.ts";
import { defineProcess } from "./define-process.ts";
import { livingGroups } from "./system-processes.ts";

const box = await openFixture(inject("adminUrl"));
const { create, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

/** Far more than it takes. */
const BLOCKED_FOR_MS = 8_000;

/** No timer, no message and no answer is seen meanwhile, as under a handler that computes. */
function blockEventLoopUntil(isSo: () => boolean): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const giveUpAt = performance.now() + BLOCKED_FOR_MS;
  while (!isSo() && performance.now() < giveUpAt) Atomics.wait(nobody, 0, 0, 10);
}

const isGone = (group: number): boolean => livingGroups([group]).size === 0;

async function ended(scheduler: Scheduler, taskRunId: string): Promise<void> {
  await waitUntil("it has ended", async () => (await scheduler.get(taskRunId)).finishedAt !== null);
}

/** A process that has begun, and what it said first. */
async function begin(
  shell: string,
  timeouts: Timeouts,
): Promise<{ readonly scheduler: Scheduler; readonly taskRunId: string; readonly said: string }> {
  const program = defineProcess({ allowShell: true, graceMs: 200 });
  const scheduler = create({ tasks: [program], leaseMs: 60_000 });
  await scheduler.start();
  // The first one starts the warden, which takes its time.
  await ended(scheduler, (await scheduler.enqueue(program.task({ argv: ["true"] }))).taskRunId);
  const { taskRunId } = await scheduler.enqueue(program.task({ shell }, { timeouts }));
  let said = "";
  await waitUntil("it says something", async () => {
    const { entries } = await scheduler.readLog(taskRunId);
    said = entries.find(({ stream }) => stream === "stdout")?.text ?? "";
    return said !== "";
  });
  return { scheduler, taskRunId, said };
}

it("ends a process in time while somebody blocks the event loop, with the same outcome as ever", async () => {
  const stubborn = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
  const { scheduler, taskRunId, said } = await begin(stubborn, { runningMs: 2_000 });
  const group = Number(said);

  blockEventLoopUntil(() => isGone(group));

  expect(isGone(group)).toBe(true);
  await ended(scheduler, taskRunId);
  expect((await scheduler.get(taskRunId)).error).toEqual({
    code: "RUN_TIMEOUT",
    message: "It ran for more than 2000 ms",
  });
});

it("ends the processes of a function that blocks the event loop when that would be taken for stuck", async () => {
  const ends: unknown[] = [];
  const blocking = defineTask<null>({
    kind: "blocking",
    run: async (_, { processes, signal }) => {
      const child = await processes.start({
        argv: ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"],
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        graceMs: 3_600_000,
        onOutput: () => {},
      });
      blockEventLoopUntil(() => isGone(child.pid));
      ends.push(isGone(child.pid), (await child.ended).because);
      signal.throwIfAborted();
    },
  });
  const scheduler = create({ tasks: [blocking], leaseMs: 60_000, obeyMs: 500 });
  await scheduler.start();
  const timeouts = { runningMs: 2_000 };
  const { taskRunId } = await scheduler.enqueue(blocking.task(null, { timeouts }));

  await ended(scheduler, taskRunId);

  expect((await scheduler.get(taskRunId)).outcome).toMatch(/^(RUN_TIMEOUT|HANDLER_STUCK)$/);
  await waitUntil("it has seen the end", () => ends.length > 0);
  expect(ends).toEqual([true, "run_timeout"]);
});

it("hears what a process printed while the event loop was blocked before it judges its progress", async () => {
  const talking = "for i in $(seq 25); do echo $i; sleep 0.1; done";
  const { scheduler, taskRunId } = await begin(talking, { progressMs: 1_500 });
  const begunAt = performance.now();

  blockEventLoopUntil(() => performance.now() - begunAt > 1_700);

  await ended(scheduler, taskRunId);
  expect((await scheduler.get(taskRunId)).outcome).toBe("SUCCEEDED");
});

it("lets a process have ended in time that did so while the event loop was blocked beyond its time", async () => {
  const { scheduler, taskRunId } = await begin("echo begun; sleep 1", { runningMs: 2_000 });
  const begunAt = performance.now();

  blockEventLoopUntil(() => performance.now() - begunAt > 2_200);

  await ended(scheduler, taskRunId);
  expect((await scheduler.get(taskRunId)).outcome).toBe("SUCCEEDED");
});
