import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { statusesIn } from "../../test/look.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { asTaskRunId, type InstanceId, type RunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { Settlement } from "../domain/settlement.ts";
import { defineTask, NonRetryableError } from "../executors/define-task.ts";
import type { Transaction } from "../store/database.ts";
import { type SettleRequest, settleTaskRuns, succeedTaskRuns } from "../store/task-runs/settle.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { stopExecution } from "./held-claims.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const DONE: Settlement = { status: "DONE", outcome: "SUCCEEDED", output: 1, error: null, nextAttempt: null };

async function attemptsOf(taskId: string): Promise<readonly unknown[]> {
  return await box.query(
    `SELECT attempt, status, outcome, interruptions FROM signalbox.task_run WHERE task_id = $1 ORDER BY attempt`,
    [taskId],
  );
}

async function finish(scheduler: ManualScheduler): Promise<void> {
  await scheduler.promote();
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
}

/** As the settler would write it for what the scheduler holds. */
function requestsOf(scheduler: ManualScheduler): SettleRequest[] {
  return scheduler.held.all().map(({ claim }) => ({
    taskRunId: claim.taskRunId,
    claimNo: claim.claimNo,
    claimedBy: scheduler.instanceId,
    runId: claim.runId,
    settlement: DONE,
    outside: false,
  }));
}

describe("a settlement", () => {
  it("writes DONE with the output and its stamps", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task({ rows: 7 }));

    await finish(scheduler);

    const row = await scheduler.get(taskRunId);
    expect(row).toMatchObject({
      status: "DONE",
      outcome: "SUCCEEDED",
      output: { rows: 7 },
      error: null,
      claimedBy: scheduler.instanceId,
      rowVersion: 3,
    });
    expect(row.finishedAt?.getTime()).toBeGreaterThanOrEqual(row.claimedAt?.getTime() ?? Number.NaN);
  });

  it("writes FAILED with what was thrown, and no new attempt where there is none left", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId, taskId } = await scheduler.enqueue(broken.task(1));

    await finish(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "FAILED",
      outcome: "HANDLER_FAILED",
      error: { code: "HANDLER_FAILED", message: "It does not work" },
    });
    expect(await attemptsOf(taskId)).toHaveLength(1);
  });

  it("makes a retry a new task run that waits for its backoff, and the old one stays as it is", async () => {
    const scheduler = await box.scheduler();
    const retry = { attempts: 3, backoff: { firstMs: 60_000 } };
    const { taskId } = await scheduler.enqueue(broken.task(1, { retry }));

    await finish(scheduler);

    expect(await attemptsOf(taskId)).toEqual([
      { attempt: 1, status: "FAILED", outcome: "HANDLER_FAILED", interruptions: 0 },
      { attempt: 2, status: "PENDING", outcome: null, interruptions: 0 },
    ]);
    const next = await scheduler.get(taskId);
    const delayMs = (next.runAt?.getTime() ?? 0) - next.enqueuedAt.getTime();
    expect(next).toMatchObject({ attempt: 2, blockedOn: "RUN_AT" });
    expect(delayMs).toBeGreaterThanOrEqual(29_999);
    expect(delayMs).toBeLessThanOrEqual(60_000);
    expect(scheduler.events).toContainEqual(
      expect.objectContaining({ type: "task_run.settled", status: "FAILED", nextTaskRunId: next.taskRunId }),
    );
  });

  it("takes a delay of a year, which is the longest there is", async () => {
    const scheduler = await box.scheduler();
    const yearMs = 31_536_000_000;
    const retry = { attempts: 2, backoff: { firstMs: yearMs, maxMs: yearMs } };
    const { taskId } = await scheduler.enqueue(broken.task(1, { retry }));

    await finish(scheduler);

    expect(await attemptsOf(taskId)).toHaveLength(2);
  });

  it("tries again until the attempts are used up, and counts them", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(
      broken.task(1, { retry: { attempts: 3, backoff: { firstMs: 0 } } }),
    );

    await scheduler.runUntilIdle();

    expect(await attemptsOf(taskId)).toMatchObject([
      { attempt: 1, status: "FAILED" },
      { attempt: 2, status: "FAILED" },
      { attempt: 3, status: "FAILED" },
    ]);
  });

  it("makes no new attempt of what says that it would fail again", async () => {
    const hopeless = defineTask({
      kind: "hopeless",
      run: () => {
        throw new NonRetryableError("never");
      },
    });
    const scheduler = await box.scheduler({ tasks: [hopeless] });
    const { taskId } = await scheduler.enqueue(hopeless.task(1, { retry: { attempts: 5 } }));

    await finish(scheduler);

    expect(await attemptsOf(taskId)).toMatchObject([{ attempt: 1, status: "FAILED" }]);
  });

  it("keeps a version open between two attempts, so that no larger one slips in", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    const retry = { attempts: 2, backoff: { firstMs: 60_000 } };
    await scheduler.enqueue(broken.task(1, { resources, version: "1", retry }));
    const larger = await scheduler.enqueue(echo.task(2, { resources, version: "2" }));

    await finish(scheduler);
    await scheduler.promote();

    expect(await scheduler.get(larger.taskRunId)).toMatchObject({ blockedOn: "VERSION_ORDER" });
  });

  it("writes many at once, more than one batch", async () => {
    const scheduler = await box.scheduler({ slots: 50, batchSize: 20 });
    await scheduler.enqueueMany(
      Array.from({ length: 50 }, (_, index) => (index % 2 ? echo : broken).task(index)),
    );

    for (let batch = 0; batch < 3; batch += 1) await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    expect((await scheduler.list({ status: ["DONE"] })).taskRuns).toHaveLength(25);
    expect((await scheduler.list({ status: ["FAILED"] })).taskRuns).toHaveLength(25);
  });
});

describe("two settlements of one instance at once", () => {
  it("record each what the other has not, and each hands on what was held", async () => {
    const scheduler = await box.scheduler({ slots: 200, batchSize: 300 });
    const specs = Array.from({ length: 120 }, (_, n) =>
      echo.task(n, { resources: [exclusive(`shop ${n}`)] }),
    );
    // Two for each: one goes on when the other has ended.
    await scheduler.enqueueMany([...specs, ...specs]);
    await scheduler.promote();
    await scheduler.claim();
    const pool = box.pool("settler");
    const settler = createSettler({ pool, batchSize: 60, emit: () => {} });
    for (const { claim } of scheduler.held.all())
      settler.add(claim, scheduler.instanceId, { kind: "succeeded", output: null }, scheduler.held);
    const pause = pool.pauseBefore("COMMIT");

    const first = settler.settleOnce();
    await pause.reached;
    expect(await settler.settleOnce()).toMatchObject({ freesSlots: true, handsOff: true });
    expect(await statusesIn(box, "default")).toEqual({ DONE: 60, RUNNING: 60, AVAILABLE: 60, PENDING: 60 });
    pause.resume();

    expect(await first).toMatchObject({ left: 0, freesSlots: true, handsOff: true });
    expect(await statusesIn(box, "default")).toEqual({ DONE: 120, AVAILABLE: 120 });
    expect(scheduler.held.all()).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("a run ends once, with its last task", () => {
  async function runOf(runId: RunId | null) {
    const [run] = await box.query<{ status: string; open_tasks: number; ended: boolean; ends: number }>(
      `SELECT status, open_tasks, finished_at IS NOT NULL AS ended,
              (SELECT count(*)::integer FROM signalbox.event_store
                WHERE aggregate_id = run.id AND type = 'run.ended') AS ends
         FROM signalbox.run WHERE id = $1`,
      [runId],
    );
    return run;
  }

  it.each([
    ["DONE", [echo.task(1), echo.task(2)]],
    ["FAILED", [echo.task(1), broken.task(2)]],
  ])("as %s", async (status, specs) => {
    const scheduler = await box.scheduler({ slots: 1 });
    const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly" } });

    await finish(scheduler);
    expect(await runOf(runId)).toEqual({ status: "RUNNING", open_tasks: 1, ended: false, ends: 0 });

    await finish(scheduler);
    expect(await runOf(runId)).toEqual({ status, open_tasks: 0, ended: true, ends: 1 });
  });

  it("as CANCELED, when nothing failed and something was canceled", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly" },
    });
    await scheduler.cancel(taskRuns[0]?.taskRunId ?? "");

    await finish(scheduler);

    expect(await runOf(runId)).toEqual({ status: "CANCELED", open_tasks: 0, ended: true, ends: 1 });
  });

  it("not with an attempt that is followed by another", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await scheduler.enqueueMany(
      [broken.task(1, { retry: { attempts: 2, backoff: { firstMs: 0 } } })],
      { run: { title: "nightly" } },
    );

    await finish(scheduler);
    expect(await runOf(runId)).toMatchObject({ status: "RUNNING", open_tasks: 1 });
    await finish(scheduler);
    expect(await runOf(runId)).toMatchObject({ status: "FAILED", ends: 1 });
  });

  it("also when two instances settle its last two at the same moment", async () => {
    const [one, other] = [await box.scheduler({ slots: 1 }), await box.scheduler({ slots: 1 })];
    const { runId } = await one.enqueueMany([echo.task(1), echo.task(2)], { run: { title: "nightly" } });
    await one.promote();
    await one.claim();
    await other.claim();

    const first = await leaveOpen(box.pool("first"), async (tx) => await settleTaskRuns(tx, requestsOf(one)));
    const second = box.pool("second").transaction(async (tx) => await settleTaskRuns(tx, requestsOf(other)));
    await waitUntilBlocked(box.db.client, "second");
    await first.commit();
    await second;

    expect(await runOf(runId)).toEqual({ status: "DONE", open_tasks: 0, ended: true, ends: 1 });
  });
});

describe.each<[what: string, settle: (tx: Transaction, request: SettleRequest) => Promise<unknown[]>]>([
  ["a settlement is refused", async (tx, request) => [...(await settleTaskRuns(tx, [request]))]],
  [
    "a plain success is refused",
    async (tx, request) => [...(await succeedTaskRuns(tx, request.claimedBy, [request]))],
  ],
  [
    "a plain success among those of other claims is refused",
    async (tx, request) => {
      const other = { taskRunId: asTaskRunId("00000000-0000-7000-8000-000000000001"), claimNo: -1 };
      return [...(await succeedTaskRuns(tx, request.claimedBy, [request, other]))];
    },
  ],
])("%s", (_, settle) => {
  /** One task run that `scheduler` has claimed, with the request that would settle it. */
  async function claimed(): Promise<{ scheduler: ManualScheduler; request: SettleRequest }> {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const [request] = requestsOf(scheduler);
    if (request === undefined) throw new Error("Nothing was claimed");
    return { scheduler, request };
  }
  const settled = async (request: SettleRequest): Promise<number> => {
    const rows = await box.pool("settler").transaction(async (tx) => await settle(tx, request));
    return rows.length;
  };

  it("under an old claim number of the same owner", async () => {
    const { scheduler, request } = await claimed();
    // Handed back and claimed again by the same instance: only the number tells the two apart.
    loseAnswers(scheduler.held);
    await scheduler.reconcile();
    await scheduler.promote();
    await scheduler.claim();

    expect(await settled(request)).toBe(0);
    expect(await scheduler.get(request.taskRunId)).toMatchObject({ status: "RUNNING" });
  });

  it("under a number that is not the current one", async () => {
    const { scheduler, request } = await claimed();
    // As after a failover that undid the claim, and a second one of the same instance.
    await box.query("UPDATE signalbox.task_run SET claim_no = claim_no + 1");

    expect(await settled(request)).toBe(0);
    expect(await scheduler.get(request.taskRunId)).toMatchObject({ status: "RUNNING" });
  });

  it("in the name of another owner, under the right number", async () => {
    const { scheduler, request } = await claimed();
    const other: InstanceId = (await box.scheduler()).instanceId;

    expect(await settled({ ...request, claimedBy: other })).toBe(0);
    expect(await scheduler.get(request.taskRunId)).toMatchObject({ status: "RUNNING" });
  });

  it("when it is not RUNNING any more, under the right number and owner", async () => {
    const { scheduler, request } = await claimed();
    expect(await settled(request)).toBe(1);
    const before = await scheduler.get(request.taskRunId);

    const failed: Settlement = { ...DONE, status: "FAILED", outcome: "LATE" };
    expect(await settled({ ...request, settlement: failed })).toBe(0);
    expect(await scheduler.get(request.taskRunId)).toEqual(before);
  });
});

it("gives back what it held, also where there is no result to store", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(null, { resources: [exclusive("orders")] }));

  await scheduler.runUntilIdle();

  expect(await box.statusOf(taskRunId)).toBe("DONE");
  expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
});

describe("a settlement that is refused", () => {
  it("is told to the one who came too late, once", async () => {
    const [zombie, rescuer] = [await box.scheduler({ name: "zombie" }), await box.scheduler()];
    const { taskId } = await zombie.enqueue(echo.task(1));
    await zombie.claim();
    await zombie.execute();
    await zombie.expireLease();
    await rescuer.rescue();

    await zombie.settle();

    expect(zombie.events.filter(({ type }) => type === "task_run.refused")).toHaveLength(1);
    expect(zombie.held.all()).toEqual([]);
    expect(await attemptsOf(taskId)).toMatchObject([
      { attempt: 1, status: "FAILED", outcome: "LEASE_LOST" },
      { attempt: 2, status: "PENDING", interruptions: 1 },
    ]);
  });

  it("also where it would have written the same", async () => {
    const obedient = defineTask({ kind: "obedient", run: (_, { signal }) => signal.throwIfAborted() });
    const zombie = await box.scheduler({ name: "zombie", tasks: [obedient] });
    const { taskRunId } = await zombie.enqueue(obedient.task(null));
    await zombie.claim();
    for (const held of zombie.held.all()) stopExecution(held, "fence");
    await zombie.execute();
    await zombie.expireLease();
    await (await box.scheduler()).rescue();

    await zombie.settle();

    expect(zombie.events).toMatchObject([{ type: "task_run.refused", taskRunId }]);
    expect(await zombie.get(taskRunId)).toMatchObject({ outcome: "LEASE_LOST" });
  });
});
