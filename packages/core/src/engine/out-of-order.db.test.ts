import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { parkingIn } from "../../test/look.ts";
import { makeOlder } from "../../test/make-older.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const HOUR_MS = 3_600_000;
const resources = [exclusive("orders")];
const version = (text: string, options: Partial<TaskSpec> = {}): TaskSpec =>
  echo.task(1, { version: text, resources, ...options });

describe("a version below one that is DONE on its resource", () => {
  it("fails without a start, says why, and keeps nobody behind it waiting", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();
    const small = await scheduler.enqueue(version("1.9", { retry: { attempts: 3 } }));
    const large = await scheduler.enqueue(version("3"));

    await scheduler.runUntilIdle();

    expect(await scheduler.get(small.taskId)).toMatchObject({
      attempt: 1,
      status: "FAILED",
      outcome: "OUT_OF_ORDER",
      claimedAt: null,
      waitedMs: { OUT_OF_ORDER: expect.any(Number) },
      error: { code: "OUT_OF_ORDER", message: expect.stringContaining('version 2 is DONE on "orders"') },
    });
    expect(await box.statusOf(large.taskRunId)).toBe("DONE");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("fails also when the larger one was pruned long ago", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();
    await makeOlder(box, 2 * HOUR_MS);
    await scheduler.prune({ DONE: HOUR_MS, FAILED: HOUR_MS, CANCELED: HOUR_MS });
    expect((await scheduler.list()).taskRuns).toEqual([]);

    const { taskRunId } = await scheduler.enqueue(version("1"));
    await scheduler.runUntilIdle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "OUT_OF_ORDER" });
  });

  it("fails at once although a smaller one is open", async () => {
    const [scheduler, other] = [await box.scheduler(), await box.scheduler()];
    const beside = (text: string): TaskSpec => version(text, { resources: [shared("orders")] });
    await scheduler.enqueue(beside("3"));
    await scheduler.promote();
    await scheduler.claim();
    const smallest = await scheduler.enqueue(beside("1"));
    await scheduler.promote();
    await other.claim();
    const small = await scheduler.enqueue(beside("2"));
    await scheduler.promote();
    expect(await parkingIn(box, small.taskRunId)).toBe("VERSION_ORDER orders");

    await scheduler.execute();
    await scheduler.settle();
    await scheduler.promote();

    expect(await box.statusOf(smallest.taskRunId)).toBe("RUNNING");
    expect(await scheduler.get(small.taskRunId)).toMatchObject({ status: "FAILED", outcome: "OUT_OF_ORDER" });
  });

  it("fails also when it was enqueued while the larger one ran", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.promote();
    await scheduler.claim();
    const small = await scheduler.enqueue(version("1"));
    await scheduler.promote();
    expect(await box.statusOf(small.taskRunId)).toBe("PENDING");

    await scheduler.execute();
    await scheduler.settle();
    const pass = await scheduler.promote();

    expect(pass).toMatchObject({ refused: [{ taskRunId: small.taskRunId, version: "1", doneVersion: "2" }] });
    expect(await box.statusOf(small.taskRunId)).toBe("FAILED");
  });

  it("starts when it is allowed to", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();

    const { taskRunId } = await scheduler.enqueue(version("1", { outOfOrder: true }));
    await scheduler.runUntilIdle();

    expect(await box.statusOf(taskRunId)).toBe("DONE");
    // What was allowed once does not make the largest smaller.
    const next = await scheduler.enqueue(version("1.5"));
    await scheduler.runUntilIdle();
    expect(await box.statusOf(next.taskRunId)).toBe("FAILED");
  });

  it("fails again when somebody retries it by hand", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();
    const { taskId } = await scheduler.enqueue(version("1"));
    await scheduler.runUntilIdle();

    await scheduler.retry(taskId);
    await scheduler.runUntilIdle();

    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, outcome: "OUT_OF_ORDER" });
  });

  it("ends its run, which counts it as failed", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();

    const { runId } = await scheduler.enqueueMany([version("1"), version("3")], {
      run: { title: "rollout" },
    });
    await scheduler.runUntilIdle();

    expect(await box.query("SELECT status FROM signalbox.run WHERE id = $1", [runId])).toEqual([
      { status: "FAILED" },
    ]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("that was canceled at the same moment stays CANCELED", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();
    const { taskRunId } = await scheduler.enqueue(version("1"));
    const pool = box.pool("promoter");
    const pause = pool.pauseBefore("refuseTaskRuns");
    const pass = promoteOnce({ pool, batchSize: 10 });
    await pause.reached;

    await scheduler.cancel(taskRunId);
    pause.resume();

    expect(await pass).toMatchObject({ kind: "passed", refused: [], unrefused: null });
    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is failed by the next pass when whoever parked it died before he failed it", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(version("2"));
    await scheduler.runUntilIdle();
    const { taskRunId } = await scheduler.enqueue(version("1"));
    const pool = box.pool("dying");
    const pause = pool.pauseBefore("refuseTaskRuns");
    const pass = promoteOnce({ pool, batchSize: 10 });
    await pause.reached;
    await box.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dying'",
    );
    pause.resume();
    expect(await pass).toMatchObject({ refused: [], unrefused: expect.any(Error) });
    // It says goodbye before it gives up the gate lock.
    const dying = "SELECT FROM pg_stat_activity WHERE application_name = 'dying'";
    await expect.poll(async () => await box.query(dying)).toEqual([]);
    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "PENDING", blockedOn: "OUT_OF_ORDER" });

    await scheduler.promote();

    expect(await box.statusOf(taskRunId)).toBe("FAILED");
  });
});

describe("the largest version of a resource", () => {
  it("does not rise with one that failed or was canceled, and is another one for each resource", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(broken.task(1, { version: "5", resources }));
    const canceled = await scheduler.enqueue(version("6"));
    await scheduler.cancel(canceled.taskRunId);
    await scheduler.enqueue(version("7", { resources: [exclusive("users")] }));
    await scheduler.runUntilIdle();

    const { taskRunId } = await scheduler.enqueue(version("1"));
    await scheduler.runUntilIdle();

    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("is the larger one of two that end in the same moment, in whatever order", async () => {
    const scheduler = await box.scheduler();
    const shared = [{ name: "orders", mode: "shared" as const }];
    await scheduler.enqueue(version("1.10", { resources: shared }));
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.enqueue(version("1.9", { resources: shared }));
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    expect(await box.value("SELECT array_to_string(version, '.') FROM signalbox.done_version")).toBe("1.10");
  });
});
