/** What has failed is found by its error, however much has ended beside it. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../../test/fixture.ts";
import { plansSentBy, reads } from "../../../test/query-plans.ts";
import type { TaskRunFilter } from "../../domain/task-run.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import { listTaskRuns } from "./read.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function listed(scheduler: ManualScheduler, filter: TaskRunFilter): Promise<readonly unknown[]> {
  const { taskRuns } = await scheduler.list({ status: ["FAILED"], ...filter });
  return taskRuns.map(({ title, attempt }) => `${title} ${attempt}`);
}

describe("a list of failures", () => {
  it("has each, or only those that nothing tries again", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(broken.task(1, { title: "for good" }));
    const again = { attempts: 2, backoff: { firstMs: 0 } };
    await scheduler.enqueue(broken.task(2, { title: "tried again", retry: again }));
    await scheduler.enqueue(echo.task(3));
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    expect(await listed(scheduler, {})).toEqual(["tried again 1", "for good 1"]);
    expect(await listed(scheduler, { newest: true })).toEqual(["for good 1"]);
    expect(await listed(scheduler, { newest: false })).toHaveLength(2);
  });

  it("has one no more once somebody has asked for another attempt", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();
    expect(await listed(scheduler, { newest: true })).toHaveLength(1);

    await scheduler.retry(taskRunId);

    expect(await listed(scheduler, { newest: true })).toEqual([]);
  });

  it("can be of some outcomes only, and so can a list of all", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler()];
    await scheduler.enqueue(echo.task(1, { title: "lost", onLost: "fail" }));
    await doomed.claim();
    await doomed.expireLease();
    await scheduler.rescue();
    await scheduler.enqueue(broken.task(2, { title: "broken" }));
    await scheduler.enqueue(echo.task(3, { title: "well" }));
    await scheduler.runUntilIdle();

    expect(await listed(scheduler, { outcome: ["LEASE_LOST"] })).toEqual(["lost 1"]);
    const titles = async (filter: TaskRunFilter): Promise<readonly string[]> =>
      (await scheduler.list(filter)).taskRuns.map(({ title }) => title);
    expect(await titles({ outcome: ["LEASE_LOST", "SUCCEEDED"] })).toEqual(["well", "lost"]);
    expect(await titles({ status: ["RUNNING"], outcome: ["LEASE_LOST"] })).toEqual([]);
    expect(await titles({ newest: true, status: ["DONE", "FAILED"] })).toEqual(["well", "broken", "lost"]);
  });

  it("goes on behind very many that were tried again", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(broken.task(1, { title: "for good" }));
    await scheduler.runUntilIdle();
    // What failed and was canceled since has an error too, and looks the same from there.
    await box.query(`
      INSERT INTO signalbox.task_run_result (task_run_id, error)
      SELECT ('ffffffff-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '{}' FROM generate_series(1, 5000) AS n`);

    const first = await scheduler.list({ status: ["FAILED"], newest: true });
    expect(first.taskRuns).toEqual([]);
    expect(first.next).not.toBeNull();
    const second = await scheduler.list({
      status: ["FAILED"],
      newest: true,
      ...(first.next !== null && { before: first.next }),
    });
    expect(second).toMatchObject({ taskRuns: [{ title: "for good" }], next: null });
  });

  it("of one run has all of them, whatever failed elsewhere since", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await scheduler.enqueueMany([broken.task(1, { title: "in a run" })], {
      run: { title: "nightly" },
    });
    await scheduler.enqueue(broken.task(2));
    await scheduler.runUntilIdle();

    expect(await listed(scheduler, { ...(runId !== null && { runId }), newest: true })).toEqual([
      "in a run 1",
    ]);
  });

  it("goes by their own index", async () => {
    const plans = await plansSentBy(
      box.pool("planner"),
      async (tx) => await listTaskRuns(tx, { status: ["FAILED"], newest: true }),
    );

    expect(new Set(reads(plans.get("findFailedTaskRuns")))).toEqual(
      new Set(["task_run_result_of_failures", "task_run_pkey", "task_run_one_per_attempt"]),
    );
  });
});
