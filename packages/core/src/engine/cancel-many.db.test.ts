/** Cancels of many at once: all that is meant and nothing else, whatever happens meanwhile. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import type { RunId } from "../domain/ids.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { settle } from "../domain/settlement.ts";
import type { Pool } from "../store/database.ts";
import { settleTaskRuns } from "../store/task-runs/settle.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { cancelMany } from "./canceler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = { runAt: new Date("2090-01-01") };
const NOBODY = { by: null, reason: null };
const statuses = async () =>
  Object.fromEntries(
    (
      await box.query<{ status: string; count: number }>(
        "SELECT status, count(*)::int AS count FROM signalbox.task_run GROUP BY 1 ORDER BY 1",
      )
    ).map(({ status, count }) => [status, count]),
  );
async function enqueueRun(scheduler: ManualScheduler, tasks: number, limit = 0): Promise<RunId> {
  const specs = Array.from({ length: tasks }, (_, index) =>
    echo.task(index, { resources: [shared(`r${index % 7}`)] }),
  );
  const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly", limit } });
  if (runId === null) throw new Error("No run");
  return runId;
}
async function expectSound(scheduler: ManualScheduler): Promise<void> {
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

describe("cancelRun", () => {
  it("ends what has not started, tells what runs, and the run ends with the last of them", async () => {
    const scheduler = await box.scheduler({ slots: 3 });
    const runId = await enqueueRun(scheduler, 250, 10);
    await enqueueRun(scheduler, 2);
    await scheduler.promote();
    await scheduler.claim();

    const counts = await scheduler.cancelRun(runId, { by: "ana", reason: "wrong day" });

    expect(counts).toEqual({ canceled: 247, canceling: 3, ended: 0, notFound: 0 });
    expect(await statuses()).toMatchObject({ CANCELED: 247, RUNNING: 3 });
    await expectSound(scheduler);
    expect(await scheduler.cancelRun(runId)).toEqual({ canceled: 0, canceling: 3, ended: 247, notFound: 0 });
    await scheduler.runUntilIdle();
    expect(await box.value("SELECT status FROM signalbox.run WHERE id = $1", [runId])).toBe("CANCELED");
    expect(await statuses()).toEqual({ CANCELED: 247, DONE: 5 });
    await expectSound(scheduler);
  });

  it("of no run is refused", async () => {
    const scheduler = await box.scheduler();

    for (const runId of ["00000000-0000-7000-8000-000000000000", "nightly"] as RunId[]) {
      await expect(scheduler.cancelRun(runId)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    }
  });

  it("catches an attempt that a settlement brings at the same moment: nothing of a canceled run goes on", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany(
      [broken.task(1, { retry: { attempts: 5, backoff: { firstMs: 0 } } })],
      { run: { title: "nightly" } },
    );
    await scheduler.promote();
    await scheduler.claim();
    const [held] = scheduler.held.all();
    if (held === undefined || runId === null) throw new Error("Nothing was claimed");
    const { claim } = held;
    const failure = { kind: "failed", code: "HANDLER_FAILED", message: "no", retryable: true } as const;
    const settlement = settle(failure, claim.policy, claim, 0);
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settling.transaction(
      async (tx) =>
        await settleTaskRuns(tx, [{ ...claim, claimedBy: scheduler.instanceId, settlement, outside: false }]),
    );
    await pause.reached;
    const canceled = cancelMany(box.pool("canceler"), { runId }, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler");
    pause.resume();
    await settled;

    expect(await canceled).toMatchObject({ canceled: 1, canceling: 0 });
    expect(await scheduler.get(taskRuns[0]?.taskId ?? "")).toMatchObject({ attempt: 2, status: "CANCELED" });
    expect(await box.value("SELECT status FROM signalbox.run")).toBe("CANCELED");
    await expectSound(scheduler);
  });
});

describe("cancelMany", () => {
  it("by kind ends what waits, what is available and what runs, and no other kind", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    for (let index = 0; index < 120; index += 1)
      await scheduler.enqueue(echo.task(index, index % 2 === 0 ? LATER : {}));
    const other = await scheduler.enqueue(broken.task(1, LATER));
    const ready = await scheduler.enqueue(broken.task(2));
    await box.query("DELETE FROM signalbox.ready WHERE kind = 'broken'");
    await scheduler.claim();
    await box.query(
      `INSERT INTO signalbox.ready (kind, priority, available_at, task_run_id)
       SELECT 'broken', priority, available_at, id FROM signalbox.task_run WHERE id = $1`,
      [ready.taskRunId],
    );

    const counts = await scheduler.cancelMany({ kind: "echo" });

    expect(counts).toEqual({ canceled: 118, canceling: 2, ended: 0, notFound: 0 });
    expect(await box.statusOf(other.taskRunId)).toBe("PENDING");
    expect(await box.statusOf(ready.taskRunId)).toBe("AVAILABLE");
    await expectSound(scheduler);
  });

  it("by status leaves the others where they are", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    await scheduler.enqueue(echo.task(2));
    await scheduler.enqueue(echo.task(3, LATER));

    expect(await scheduler.cancelMany({ status: ["PENDING"] })).toMatchObject({ canceled: 1, canceling: 0 });
    expect(await statuses()).toEqual({ AVAILABLE: 1, CANCELED: 1, RUNNING: 1 });
    await expectSound(scheduler);
    expect(await scheduler.cancelMany({ status: ["AVAILABLE", "RUNNING"] })).toMatchObject({
      canceled: 1,
      canceling: 1,
    });
    await expectSound(scheduler);
  });

  it("one that is promoted after it was found is canceled, or left whole where only PENDING was meant", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("COMMIT");
    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await pause.reached;

    const onlyPending = cancelMany(box.pool("only pending"), { status: ["PENDING"] }, NOBODY);
    await waitUntilBlocked(box.db.client, "only pending");
    pause.resume();
    await pass;

    expect(await onlyPending).toEqual({ canceled: 0, canceling: 0, ended: 1, notFound: 0 });
    expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
    await expectSound(scheduler);
    expect(await scheduler.cancelMany({ kind: "echo" })).toMatchObject({ canceled: 1 });
    await expectSound(scheduler);
  });

  it("waits for the pass that is under way: the two take what waits in different orders", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("takeWakes");

    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await pause.reached;
    const canceled = cancelMany(box.pool("canceler"), { kind: "echo" }, NOBODY);
    await waitUntilBlocked(box.db.client, "canceler");
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await canceled).toMatchObject({ canceled: 1 });
    await expectSound(scheduler);
  });

  it("follows a task that fails and comes back while it looks, and leaves tasks that came after it looked", async () => {
    const scheduler = await box.scheduler();
    const retry = { attempts: 5, backoff: { firstMs: 0 } };
    const { taskId } = await scheduler.enqueue(broken.task(1, { retry }));
    await scheduler.claim();
    await scheduler.execute();
    const pool = box.pool("canceler");
    let looked = false;
    // It has looked at those that wait, and not yet at those that run.
    const failing: Pool = {
      ...pool,
      snapshot: async (work) =>
        await pool.snapshot(
          async (tx) =>
            await work({
              isTransaction: true,
              query: async (statement) => {
                const rows = await tx.query(statement);
                if (statement.name !== "selectWaiting" || looked) return rows;
                looked = true;
                await scheduler.settle();
                await scheduler.enqueue(broken.task(2, LATER));
                return rows;
              },
            }),
        ),
    };

    expect(await cancelMany(failing, { kind: "broken" }, NOBODY)).toMatchObject({ canceled: 1 });

    expect(looked).toBe(true);
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "CANCELED" });
    expect(await statuses()).toEqual({ CANCELED: 1, FAILED: 1, PENDING: 1 });
  });

  it("wants to know what is meant", async () => {
    const scheduler = await box.scheduler();

    for (const filter of [{}, { status: [] }, { status: ["DONE"] as never }]) {
      await expect(scheduler.cancelMany(filter)).rejects.toMatchObject({ code: "INVALID_FILTER" });
    }
  });

  it("takes null for not given, and never for all there is", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, LATER));
    await scheduler.enqueue(broken.task(2, LATER));

    for (const field of ["ids", "runId", "kind", "status"])
      await expect(scheduler.cancelMany({ [field]: null })).rejects.toMatchObject({ code: "INVALID_FILTER" });
    expect(await statuses()).toEqual({ PENDING: 2 });

    const only = { ids: null, runId: null, kind: "echo", status: null } as never;
    expect(await scheduler.cancelMany(only)).toMatchObject({ canceled: 1 });
    expect(await statuses()).toEqual({ CANCELED: 1, PENDING: 1 });
  });

  it("refuses a condition that it does not know, and cancels nothing", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, LATER));
    const filter = { kind: "echo", queue: "mail" };

    await expect(scheduler.cancelMany(filter)).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message: "The filter has no condition queue, only ids, runId, kind, status",
    });
    expect(await statuses()).toEqual({ PENDING: 1 });
  });

  it("several at once, with promotions, claims and settlements in between, leave nothing half-way", async () => {
    const scheduler = await box.scheduler({ slots: 20, batchSize: 20 });
    const runs = await Promise.all(Array.from({ length: 4 }, async () => await enqueueRun(scheduler, 60, 8)));
    const others = await box.scheduler({ slots: 20, name: "other" });

    await Promise.all([
      ...runs.map(async (runId) => await scheduler.cancelRun(runId)),
      scheduler.cancelMany({ kind: "echo" }),
      others.runUntilIdle(),
      others.cancelMany({ kind: "echo", status: ["PENDING"] }),
    ]);
    await others.runUntilIdle();

    expect(await box.query("SELECT FROM signalbox.run WHERE status = 'RUNNING'")).toEqual([]);
    for (const table of ["waiting", "line", "ready", "hold"]) {
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    }
    await expectSound(scheduler);
  });
});
