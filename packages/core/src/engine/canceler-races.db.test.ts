/** A cancel and what happens at the same moment, in both orders. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { type Settlement, settle } from "../domain/settlement.ts";
import { type ClaimRequest, claimTaskRuns } from "../store/task-runs/claim.ts";
import { settleTaskRuns } from "../store/task-runs/settle.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { cancelOnce } from "./canceler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
/** Whatever came first: no property is broken by it. */
afterEach(async () => {
  const { violations } = await (await box.scheduler()).checkInvariants();
  await box.clear();
  expect(violations).toEqual([]);
});
afterAll(box.close);

const retry = { attempts: 3, backoff: { firstMs: 0 } };
const NOBODY = { by: null, reason: null };

async function claimed(scheduler: ManualScheduler) {
  await scheduler.promote();
  await scheduler.claim();
  const [held] = scheduler.held.all();
  if (held === undefined) throw new Error("Nothing was claimed");
  const { claim } = held;
  const as = (settlement: Settlement) => [
    { ...claim, claimedBy: scheduler.instanceId, settlement, outside: false },
  ];
  const failure = { kind: "failed", code: "HANDLER_FAILED", message: "no", retryable: true } as const;
  return {
    ...claim,
    success: as(settle({ kind: "succeeded", output: 1 }, claim.policy, claim, 0)),
    failure: as(settle(failure, claim.policy, claim, 0)),
  };
}

function request({ instanceId }: ManualScheduler): ClaimRequest {
  return { instanceId, kinds: ["echo"], freeSlots: 1, requestNo: 1 };
}

describe("a cancel and a settlement at the same moment", () => {
  it("cancel first: the failure that waited for it becomes CANCELED and brings no new attempt", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1, { retry }));
    const claim = await claimed(scheduler);
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("COMMIT");

    const answer = cancelOnce(canceling, taskId, NOBODY);
    await pause.reached;
    const settled = box.pool("settler").transaction(async (tx) => await settleTaskRuns(tx, claim.failure));
    await waitUntilBlocked(box.db.client, "settler");
    pause.resume();

    expect(await answer).toBe("canceling");
    expect(await settled).toMatchObject([{ status: "CANCELED", nextTaskRunId: null }]);
  });

  it("settlement first: a cancel of the task goes on to the new attempt, one of the task run is too late", async () => {
    const scheduler = await box.scheduler();
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1, { retry }));
    const claim = await claimed(scheduler);
    const settled = await leaveOpen(
      box.pool("settler"),
      async (tx) => await settleTaskRuns(tx, claim.failure),
    );

    const ofTask = cancelOnce(box.pool("canceler of the task"), taskId, NOBODY);
    const ofTaskRun = cancelOnce(box.pool("canceler of the run"), taskRunId, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler of the task");
    await waitUntilBlocked(box.db.client, "canceler of the run");
    await settled.commit();

    expect([await ofTask, await ofTaskRun]).toEqual(["canceled", "ended"]);
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "CANCELED" });
  });

  it("in a run: neither waits for the other while the other waits for it", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" } });
    const claim = await claimed(scheduler);
    const canceling = box.pool("canceler");
    // It has the run's row and not yet the task run's.
    const pause = canceling.pauseBefore("cancelTaskRun");

    const answer = cancelOnce(canceling, taskRuns[0]?.taskRunId ?? "", NOBODY);
    await pause.reached;
    const settled = box.pool("settler").transaction(async (tx) => await settleTaskRuns(tx, claim.success));
    await waitUntilBlocked(box.db.client, "settler");
    pause.resume();

    expect(await answer).toBe("canceling");
    expect(await settled).toMatchObject([{ status: "DONE" }]);
  });
});

describe("a cancel and a claim at the same moment", () => {
  it("cancel first: the claim passes over it at once", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("cancelTaskRun");

    const answer = cancelOnce(canceling, taskRunId, NOBODY);
    await pause.reached;
    expect(await scheduler.claim()).toEqual([]);
    pause.resume();

    expect(await answer).toBe("canceled");
  });

  it("claim first: the cancel waits for it and asks it to stop", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const claim = await leaveOpen(
      box.pool("claimer"),
      async (tx) => (await claimTaskRuns(tx, request(scheduler))).claims,
    );

    const answer = cancelOnce(box.pool("canceler"), taskRunId, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler");
    await claim.commit();

    expect(await answer).toBe("canceling");
  });
});

describe("a cancel and a claim of what was promoted after the cancel had looked for it", () => {
  it("claim first: the cancel that waited for its row asks it to stop", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const canceling = box.pool("canceler");
    // It found nothing to take out of the work set. From here on only the row itself can tell what it is.
    const pause = canceling.pauseBefore("cancelTaskRun");

    const answer = cancelOnce(canceling, taskRunId, NOBODY);
    await pause.reached;
    await scheduler.promote();
    const claim = await leaveOpen(
      box.pool("claimer"),
      async (tx) => (await claimTaskRuns(tx, request(scheduler))).claims,
    );
    pause.resume();
    await waitUntilBlocked(box.db.client, "canceler");
    await claim.commit();

    expect(await answer).toBe("canceling");
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  });
});

describe("a cancel and a promotion at the same moment", () => {
  it("cancel first: the promotion that waited for it passes it over, and its neighbour is let in next", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources }));
    const next = await scheduler.enqueue(echo.task(2, { resources }));
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("COMMIT");

    const answer = cancelOnce(canceling, taskRunId, NOBODY);
    await pause.reached;
    const pass = promoteOnce({ pool: box.pool("promoter"), batchSize: 10 });
    await waitUntilBlocked(box.db.client, "promoter");
    pause.resume();

    expect(await answer).toBe("canceled");
    expect(await pass).toMatchObject({ promoted: [] });
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
  });

  it("promotion first: the cancel ends what is AVAILABLE by now, and leaves it in no work set", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("COMMIT");

    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await pause.reached;
    const answer = cancelOnce(box.pool("canceler"), taskRunId, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler");
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await answer).toBe("canceled");
    for (const table of ["waiting", "ready", "hold"]) {
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    }
  });

  it("and a claim of what was promoted: the cancel does not wait for the claim that waits for it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const [promoting, canceling] = [box.pool("promoter"), box.pool("canceler")];
    const uncommitted = promoting.pauseBefore("COMMIT");
    const halfWay = canceling.pauseBefore("leaveReadyAgain");

    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await uncommitted.reached;
    const answer = cancelOnce(canceling, taskRunId, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler");
    uncommitted.resume();
    await Promise.all([pass, halfWay.reached]);
    const claim = box
      .pool("claimer")
      .transaction(async (tx) => (await claimTaskRuns(tx, request(scheduler))).claims);
    await waitUntilBlocked(box.db.client, "claimer");
    halfWay.resume();

    expect(await answer).toBe("canceled");
    expect(await claim).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
  });

  it("of a task whose next attempt has another place than the one that was found", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler()];
    const { taskId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    await doomed.claim();
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("newestTaskRun");

    const answer = cancelOnce(canceling, taskId, NOBODY);
    await pause.reached;
    await doomed.expireLease();
    await scheduler.rescue();
    await scheduler.promote();
    pause.resume();

    expect(await answer).toBe("canceled");
    expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
  });
});

describe("two cancels at the same moment", () => {
  it("of what has not started: the second waits for the first and comes too late", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly" },
    });
    const id = taskRuns[0]?.taskRunId ?? "";
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("COMMIT");

    const first = cancelOnce(one, id, NOBODY);
    await pause.reached;
    const second = cancelOnce(other, id, NOBODY);
    await waitUntilBlocked(box.db.client, "second");
    pause.resume();

    expect([await first, await second]).toEqual(["canceled", "ended"]);
    expect(await box.query("SELECT open_tasks FROM signalbox.run WHERE id = $1", [runId])).toEqual([
      { open_tasks: 1 },
    ]);
  });

  it("of what runs: both are told that it was asked to stop, and the first one's reason stays", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("COMMIT");

    const first = cancelOnce(one, taskRunId, { by: "ann", reason: "wrong input" });
    await pause.reached;
    const second = cancelOnce(other, taskRunId, { by: "bob", reason: "too slow" });
    await waitUntilBlocked(box.db.client, "second");
    pause.resume();

    expect([await first, await second]).toEqual(["canceling", "canceling"]);
    expect(
      await box.query("SELECT cancel_requested_by AS by, cancel_reason AS reason FROM signalbox.task_run"),
    ).toEqual([{ by: "ann", reason: "wrong input" }]);
    // Both requests are remembered, each with the version of the row that it made.
    expect(
      await box.query(
        `SELECT type, data->>'by' AS by, aggregate_version AS version
           FROM signalbox.event_store WHERE aggregate_id = $1 ORDER BY aggregate_version`,
        [taskRunId],
      ),
    ).toEqual([
      { type: "task_run.cancel_requested", by: "ann", version: 3 },
      { type: "task_run.cancel_requested", by: "bob", version: 4 },
    ]);
  });
});
