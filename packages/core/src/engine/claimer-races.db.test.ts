/** A claim, and what happens to it at the same moment: a promotion, settlements, a hand-back, a rescue, a renewal. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { FAILURE, promote, renewFor, rescue, SUCCESS, settleAll } from "../../test/acts.ts";
import { deferred } from "../../test/deferred.ts";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen, type OpenTransaction } from "../../test/stepped-pool.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { Pool } from "../store/database.ts";
import { type Claim, claimTaskRuns } from "../store/task-runs/claim.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { claimOnce } from "./claimer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** A claim of everything that is not committed yet. */
async function claimAndWait({ instanceId }: Pick<ManualScheduler, "instanceId">) {
  const request = { instanceId, kinds: ["echo"], freeSlots: 5, requestNo: 9 };
  return await leaveOpen(box.pool("claimer"), async (tx) => (await claimTaskRuns(tx, request)).claims);
}
const idsOf = ({ result }: OpenTransaction<readonly Claim[]>): readonly string[] =>
  result.map(({ taskRunId }) => taskRunId);
const batches = async (): Promise<readonly unknown[]> =>
  await box.query("SELECT instance_id, task_run_ids FROM signalbox.claim_batch ORDER BY claim_no");

async function expectSound(scheduler: ManualScheduler): Promise<void> {
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

describe("a claim and a promotion at the same moment", () => {
  it("promotion first: the claim does not wait and gets nothing, the next one gets it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("COMMIT");

    const pass = promote(promoting);
    await pause.reached;
    expect(await scheduler.claim()).toEqual([]);
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await scheduler.claim()).toEqual([taskRunId]);
    await expectSound(scheduler);
  });

  it("claim first: the pass does not wait, and what is being claimed keeps what it holds", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources }));
    await scheduler.promote();
    const next = await scheduler.enqueue(echo.task(2, { resources, priority: 0 }));
    const claim = await claimAndWait(scheduler);

    expect(await scheduler.promote()).toMatchObject({ kind: "passed", promoted: [] });
    await claim.commit();

    expect(idsOf(claim)).toEqual([taskRunId]);
    expect(await box.query("SELECT task_run_id FROM signalbox.hold")).toEqual([{ task_run_id: taskRunId }]);
    expect(await box.statusOf(next.taskRunId)).toBe("PENDING");
    await expectSound(scheduler);
  });
});

describe("a claim and a settlement of the same instance at the same moment", () => {
  it("claim first: the settlement forgets its own batch and not the one that is on its way", async () => {
    const scheduler = await box.scheduler();
    const first = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const second = await scheduler.enqueue(echo.task(2));
    const claim = await claimAndWait(scheduler);

    await scheduler.execute();
    await scheduler.settle();
    expect(await batches()).toEqual([]);
    await claim.commit();

    expect(await box.statusOf(first.taskRunId)).toBe("DONE");
    expect(await box.statusOf(second.taskRunId)).toBe("RUNNING");
    expect(await batches()).toEqual([
      { instance_id: scheduler.instanceId, task_run_ids: [second.taskRunId] },
    ]);
    await expectSound(scheduler);
  });

  it("settlement first: the claim does not wait, and a new attempt is nobody's before it was promoted", async () => {
    const scheduler = await box.scheduler();
    const failing = await scheduler.enqueue(
      broken.task(1, { retry: { attempts: 2, backoff: { firstMs: 0 } } }),
    );
    await scheduler.claim();
    await scheduler.execute();
    const other = await scheduler.enqueue(echo.task(2));
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settleAll(scheduler, FAILURE)(settling);
    await pause.reached;
    expect(await scheduler.claim()).toEqual([other.taskRunId]);
    pause.resume();

    const [ended] = await settled;
    expect(ended).toMatchObject({ taskRunId: failing.taskRunId, status: "FAILED" });
    expect(await scheduler.claim()).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [ended?.nextTaskRunId] });
    expect(await scheduler.claim()).toEqual([ended?.nextTaskRunId]);
    await expectSound(scheduler);
  });
});

describe("a claim and a reconcile of the same instance at the same moment", () => {
  it("claim first: what is committed is left alone while its answer is on its way, and then held", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const pool = box.pool("claimer");
    const [committed, answered] = [deferred(), deferred()];
    const slow: Pool = {
      ...pool,
      atOnce: async (work) => {
        const result = await pool.atOnce(work);
        committed.resolve();
        await answered.promise;
        return result;
      },
    };
    const { instanceId, held } = scheduler;

    const claim = claimOnce({
      pool: slow,
      instanceId,
      held,
      kinds: ["echo"],
      slots: 1,
      batchSize: 1,
      isTrusted: () => true,
    });
    await committed.promise;
    expect(await scheduler.reconcile()).toBe(0);
    answered.resolve();

    expect((await claim).map((each) => each.claim.taskRunId)).toEqual([taskRunId]);
    expect(await scheduler.reconcile()).toBe(0);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    await expectSound(scheduler);
  });
});

describe("a hand-back changes nothing", () => {
  async function claimed() {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const { claimNo } = scheduler.held.get(taskRunId)?.claim ?? { claimNo: Number.NaN };
    return { scheduler, taskRunId, claim: { taskRunId, claimNo } };
  }
  const handBack = async (instanceId: InstanceId, claim: { taskRunId: TaskRunId; claimNo: number }) =>
    await box.pool("late").transaction(async (tx) => await handBackTaskRuns(tx, instanceId, [claim]));

  it("under an old claim number of the same owner", async () => {
    const { scheduler, taskRunId, claim } = await claimed();
    expect(await handBack(scheduler.instanceId, claim)).toEqual(new Map([[taskRunId, "PENDING"]]));
    await scheduler.promote();
    await scheduler.claim();

    expect(await handBack(scheduler.instanceId, claim)).toEqual(new Map());
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    await expectSound(scheduler);
  });

  it("in the name of another owner, under the right number", async () => {
    const { scheduler, taskRunId, claim } = await claimed();

    expect(await handBack((await box.scheduler()).instanceId, claim)).toEqual(new Map());
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    await expectSound(scheduler);
  });

  it("of what was settled while it waited for the row", async () => {
    const { scheduler, taskRunId, claim } = await claimed();
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settleAll(scheduler, SUCCESS)(settling);
    await pause.reached;
    const back = handBack(scheduler.instanceId, claim);
    await waitUntilBlocked(box.db.client, "late");
    pause.resume();

    expect(await settled).toMatchObject([{ status: "DONE" }]);
    expect(await back).toEqual(new Map());
    expect(await box.statusOf(taskRunId)).toBe("DONE");
    await expectSound(scheduler);
  });
});

describe("a claim and a rescue of its instance at the same moment", () => {
  it("rescue first: the claim does not wait for it, and gets nothing", async () => {
    const [rescuer, doomed] = [await box.scheduler(), await box.scheduler({ name: "doomed" })];
    const { taskRunId } = await rescuer.enqueue(echo.task(1));
    await doomed.expireLease();
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("COMMIT");

    const rescued = rescue(rescuing);
    await pause.reached;
    // It is DEAD in a transaction that nobody sees yet: what refuses it is the time of its lease.
    expect(await doomed.claim()).toEqual([]);
    pause.resume();

    expect(await rescued).toBe(0);
    expect(await rescuer.claim()).toEqual([taskRunId]);
    await expectSound(rescuer);
  });
});

describe("a claim and a renewal at the same moment", () => {
  it("claim first: the renewal does not wait for it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const claim = await claimAndWait(scheduler);

    expect(await scheduler.renew()).toBe(true);
    await claim.commit();

    expect(idsOf(claim)).toEqual([taskRunId]);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    await expectSound(scheduler);
  });

  it("renewal first: a claim after the old lease ran out gets nothing before the renewal is committed", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const { instanceId } = scheduler;
    const renewing = box.pool("renewer");
    const pause = renewing.pauseBefore("COMMIT");
    // Shorter than a transaction may stand still.
    await renewFor(instanceId, 700)(box.pool("renewer before"));
    const renewal = renewFor(instanceId)(renewing);
    await pause.reached;
    await waitUntil(
      "the old lease has run out",
      async () =>
        await box.value<boolean>(
          "SELECT expires_at < clock_timestamp() FROM signalbox.instance WHERE boot_id = $1",
          [instanceId],
        ),
    );

    const early = await claimAndWait({ instanceId });
    await early.commit();
    pause.resume();
    expect(await renewal).toMatchObject([{ state: "LIVE" }]);
    const claim = await claimAndWait({ instanceId });
    await claim.commit();

    expect([idsOf(early), idsOf(claim)]).toEqual([[], [taskRunId]]);
    await expectSound(scheduler);
  });
});

describe("two settlements of one claim at the same moment", () => {
  it("record one of them, and there is one next attempt", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(
      echo.task(1, { retry: { attempts: 3, backoff: { firstMs: 0 } } }),
    );
    await scheduler.claim();
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("insertNextAttempts");

    const first = settleAll(scheduler, FAILURE)(one);
    await pause.reached;
    const second = settleAll(scheduler, SUCCESS)(other);
    await waitUntilBlocked(box.db.client, "second");
    pause.resume();

    expect(await first).toMatchObject([{ status: "FAILED" }]);
    expect(await second).toEqual([]);
    expect(
      await box.query("SELECT attempt, status FROM signalbox.task_run WHERE task_id = $1 ORDER BY attempt", [
        taskId,
      ]),
    ).toEqual([
      { attempt: 1, status: "FAILED" },
      { attempt: 2, status: "PENDING" },
    ]);
    await expectSound(scheduler);
  });
});
