import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const retry = { attempts: 3, backoff: { firstMs: 0 } };

describe("a cancel", () => {
  it("ends what waits at a gate, with who asked for it and why", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { runAt: new Date("2090-01-01") }));

    expect(await scheduler.cancel(taskRunId, { by: "ada", reason: "not needed" })).toBe("canceled");

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "CANCELED",
      outcome: "CANCELED",
      availableAt: null,
      finishedAt: expect.any(Date),
    });
    expect(
      await box.query("SELECT cancel_requested_by AS by, cancel_reason AS reason FROM signalbox.task_run"),
    ).toEqual([{ by: "ada", reason: "not needed" }]);
    expect(await box.query("SELECT FROM signalbox.waiting")).toEqual([]);
  });

  it("ends what is AVAILABLE and gives back what it held", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const next = await scheduler.enqueue(echo.task(2, { resources: [exclusive("orders")] }));
    await scheduler.promote();

    expect(await scheduler.cancel(taskRunId)).toBe("canceled");

    expect(await scheduler.claim()).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
  });

  it("asks what is RUNNING to stop; it is CANCELED when it has, and not tried again", async () => {
    const scheduler = await box.scheduler({
      tasks: [
        defineTask({
          kind: "obedient",
          run: async (_, { signal }) =>
            await new Promise((_resolve, reject) => {
              signal.addEventListener("abort", () => reject(new Error("stopped")));
            }),
        }),
      ],
    });
    const { taskId, taskRunId } = await scheduler.enqueue({ kind: "obedient", retry });
    await scheduler.claim();
    const execution = scheduler.execute();

    expect(await scheduler.cancel(taskRunId)).toBe("canceling");
    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "RUNNING",
      cancelRequestedAt: expect.any(Date),
    });
    await scheduler.reconcile();
    await execution;
    await scheduler.settle();

    expect(await scheduler.get(taskId)).toMatchObject({
      attempt: 1,
      status: "CANCELED",
      outcome: "CANCELED",
    });
  });

  it("leaves a success DONE, and makes of a failure CANCELED without a new attempt", async () => {
    const scheduler = await box.scheduler();
    const good = await scheduler.enqueue(echo.task(1, { retry }));
    const bad = await scheduler.enqueue(broken.task(2, { retry }));
    await scheduler.claim();
    expect(await scheduler.cancel(good.taskId)).toBe("canceling");
    expect(await scheduler.cancel(bad.taskId)).toBe("canceling");

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(good.taskId)).toMatchObject({ status: "DONE" });
    expect(await scheduler.get(bad.taskId)).toMatchObject({ attempt: 1, status: "CANCELED" });
  });

  it("changes nothing about what has ended", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();
    const before = await scheduler.get(taskRunId);

    expect(await scheduler.cancel(taskRunId)).toBe("ended");
    expect(await scheduler.get(taskRunId)).toEqual(before);
  });

  it("by the id of a task means its open attempt, by the id of a task run only that one", async () => {
    const scheduler = await box.scheduler();
    const { taskId, taskRunId } = await scheduler.enqueue(
      broken.task(1, { retry: { attempts: 3, backoff: { firstMs: 60_000 } } }),
    );
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.cancel(taskRunId)).toBe("ended");
    expect(await scheduler.cancel(taskId)).toBe("canceled");
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "CANCELED" });
    expect(await scheduler.cancel(taskId)).toBe("ended");
  });

  it("takes a prefix that only one has, and names all where it is not enough", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)]);
    const [one, other] = [taskRuns[0]?.taskRunId ?? "", taskRuns[1]?.taskRunId ?? ""];

    await expect(scheduler.cancel(one.slice(0, 4))).rejects.toMatchObject({ code: "AMBIGUOUS_ID" });
    // The last of an id is random, so a long prefix is enough; dashes and case do not matter.
    expect(await scheduler.cancel(one.slice(0, 30).toUpperCase())).toBe("canceled");
    expect(await scheduler.cancel(other.replaceAll("-", "").slice(0, 28))).toBe("canceled");
    await expect(scheduler.cancel("ffffffff")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    await expect(scheduler.cancel("not an id")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  it.each(["----", "0---", "--------", "0-1-a-", "01a", "01a1e9ae-"])(
    "names nobody by %s, where an id has no such dashes or too few digits are given",
    async (prefix) => {
      const scheduler = await box.scheduler();
      const { taskRunId } = await scheduler.enqueue(echo.task(1));

      await expect(scheduler.cancel(prefix)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
      expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
    },
  );

  it("lets those in who stood behind it in a line", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(0, { resources: [exclusive("a")] }));
    const both = await scheduler.enqueue(echo.task(1, { resources: [exclusive("a"), exclusive("b")] }));
    const behind = await scheduler.enqueue(echo.task(2, { resources: [exclusive("b")] }));
    await scheduler.promote();
    expect(await box.statusOf(behind.taskRunId)).toBe("PENDING");

    await scheduler.cancel(both.taskRunId);

    expect(await scheduler.promote()).toMatchObject({ promoted: [behind.taskRunId] });
  });
});
