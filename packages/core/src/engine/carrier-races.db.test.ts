/** Operations beside others: several instances at one, a crash between two statements, an end before its time, and work that goes on. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import type { Operation, OperationRequest } from "../domain/operation.ts";
import type { Pool } from "../store/database.ts";
import { takeGateLock } from "../store/holds/gate-lock.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { carryOnOnce } from "./carrier.ts";
import { LookAhead } from "./look-ahead.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = new Date("2090-01-01");
const RETRY_FAILED: OperationRequest = { verb: "retry", filter: { status: ["FAILED"] } };
const CANCEL_ALL: OperationRequest = {
  verb: "cancel",
  filter: { status: ["PENDING", "AVAILABLE", "RUNNING"] },
};
const emit = (): void => {};

async function withFailed(count: number): Promise<ManualScheduler> {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany(Array.from({ length: count }, () => broken.task(1)));
  await scheduler.runUntilIdle();
  return scheduler;
}

async function carryToEnd(scheduler: ManualScheduler, { operationId }: Operation): Promise<Operation> {
  while (await scheduler.carryOn());
  return await scheduler.getOperation(operationId);
}

/** How many tasks have had how many attempts. */
async function attempts(): Promise<Readonly<Record<string, number>>> {
  const rows = await box.query<{ attempts: number; tasks: number }>(
    `SELECT attempts, count(*)::integer AS tasks
       FROM (SELECT count(*)::integer AS attempts FROM signalbox.task_run GROUP BY task_id) AS t GROUP BY 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.attempts, row.tasks]));
}

describe("an operation that several instances could carry on", () => {
  it("is left to whoever is at it, who does not keep the other waiting", async () => {
    const scheduler = await withFailed(150);
    const operation = await scheduler.startOperation(RETRY_FAILED);
    const slow = box.pool("slow");
    const pause = slow.pauseBefore("COMMIT");
    const first = carryOnOnce({ pool: slow, ahead: new LookAhead(), emit });
    await pause.reached;

    const second = await carryOnOnce({ pool: box.pool("quick"), ahead: new LookAhead(), emit });
    pause.resume();

    expect(second).toBeNull();
    expect(await first).toEqual({ verb: "retry", done: 100 });
    expect(await carryToEnd(scheduler, operation)).toMatchObject({ status: "DONE", done: 150, skipped: {} });
    expect(await attempts()).toEqual({ 2: 150 });
  });

  it("goes on elsewhere where one dies of it, and nothing is done twice or passed over", async () => {
    const scheduler = await withFailed(150);
    const operation = await scheduler.startOperation(RETRY_FAILED);
    const dying = box.pool("dying");
    const pause = dying.pauseBefore("COMMIT");
    const lost = expect(carryOnOnce({ pool: dying, ahead: new LookAhead(), emit })).rejects.toThrow();
    await pause.reached;
    await box.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dying' AND datname = current_database()",
    );
    pause.resume();
    await lost;

    expect(await scheduler.getOperation(operation.operationId)).toMatchObject({ status: "RUNNING", done: 0 });
    expect(await carryToEnd(scheduler, operation)).toMatchObject({ status: "DONE", done: 150, skipped: {} });
    expect(await attempts()).toEqual({ 2: 150 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("shares its turns with a longer one", async () => {
    const scheduler = await withFailed(250);
    const long = await scheduler.startOperation(RETRY_FAILED);
    await scheduler.carryOn();
    const short = await scheduler.startOperation({ verb: "cancel", filter: { kind: "echo" } });

    await scheduler.carryOn();
    await scheduler.carryOn();

    expect(await scheduler.getOperation(short.operationId)).toMatchObject({ status: "DONE" });
    expect(await scheduler.getOperation(long.operationId)).toMatchObject({ status: "RUNNING", done: 200 });
  });
});

describe("an operation whose turn fails", () => {
  it("lets the others go before it, says what is wrong, and goes on when that is over", async () => {
    const scheduler = await withFailed(3);
    const bad = await scheduler.startOperation(RETRY_FAILED);
    const good = await scheduler.startOperation({ verb: "cancel", filter: { kind: "echo" } });
    await box.query(`CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'No more today'; END $$;
                     CREATE TRIGGER planted BEFORE INSERT ON signalbox.task_run FOR EACH ROW EXECUTE FUNCTION planted()`);
    try {
      await expect(scheduler.carryOn()).rejects.toThrow("No more today");
      expect(await scheduler.carryOn()).toBe(true);
    } finally {
      await box.query("DROP FUNCTION planted CASCADE");
    }

    expect(await scheduler.getOperation(good.operationId)).toMatchObject({ status: "DONE", problem: null });
    expect(await scheduler.getOperation(bad.operationId)).toMatchObject({
      status: "RUNNING",
      done: 0,
      problem: "No more today",
    });
    expect(await carryToEnd(scheduler, bad)).toMatchObject({ status: "DONE", done: 3, problem: null });
  });
});

describe("a cancel of many", () => {
  /** Those who look, and how often. */
  function watched(name: string, looks: string[]) {
    const pool = box.pool(name);
    const told: Pool = {
      ...pool,
      transaction: async (work, first) =>
        await pool.transaction(
          async (tx) =>
            await work({
              ...tx,
              query: async (statement) => {
                if (statement.name === "lookAtOpen") looks.push(name);
                return await tx.query(statement);
              },
            }),
          first,
        ),
    };
    return { pool: told, ahead: new LookAhead(), emit };
  }

  it("looks once for many bites, also where two instances take turns at it", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany(Array.from({ length: 450 }, () => echo.task(1, { runAt: LATER })));
    const { operationId } = await scheduler.startOperation(CANCEL_ALL);
    const looks: string[] = [];
    const [one, other] = [watched("one", looks), watched("other", looks)];

    const done = [];
    for (const each of [one, other, one, one, other]) done.push((await carryOnOnce(each))?.done);

    expect(done).toEqual([100, 100, 100, 100, 50]);
    expect(looks).toEqual(["one", "other"]);
    expect(await scheduler.getOperation(operationId)).toMatchObject({
      status: "DONE",
      done: 450,
      skipped: {},
    });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("finds out what has changed since it looked", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await scheduler.enqueueMany(Array.from({ length: 100 }, () => echo.task(1, { runAt: LATER })));
    const [last] = (await scheduler.enqueueMany([echo.task(2), echo.task(3)])).taskRuns;
    const { operationId } = await scheduler.startOperation(CANCEL_ALL);
    const carrier = { pool: box.pool("carrier"), ahead: new LookAhead(), emit };

    await carryOnOnce(carrier);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    await carryOnOnce(carrier);

    expect(await scheduler.getOperation(operationId)).toMatchObject({
      status: "DONE",
      done: 100,
      skipped: { ENDED: 2 },
    });
    expect(await box.statusOf(last?.taskRunId ?? "")).toBe("DONE");
  });
});

describe("an abort", () => {
  it("waits for the bite that is under way, and no other follows", async () => {
    const scheduler = await withFailed(150);
    const operation = await scheduler.startOperation(RETRY_FAILED);
    const slow = box.pool("slow");
    const pause = slow.pauseBefore("COMMIT");
    const bite = carryOnOnce({ pool: slow, ahead: new LookAhead(), emit });
    await pause.reached;

    const aborted = scheduler.abortOperation(operation.operationId, { by: "ana", reason: "wrong queue" });
    await waitUntilBlocked(box.db.client, "signalbox manual");
    pause.resume();
    await bite;

    expect(await aborted).toBe(true);
    expect(await carryToEnd(scheduler, operation)).toMatchObject({
      status: "ABORTED",
      done: 100,
      aborted: { by: "ana", reason: "wrong queue" },
      endedAt: expect.any(Date),
    });
    expect(await attempts()).toEqual({ 1: 50, 2: 100 });
  });

  it("of one that is over changes nothing", async () => {
    const scheduler = await withFailed(1);
    const operation = await scheduler.startOperation(RETRY_FAILED);
    const ended = await carryToEnd(scheduler, operation);

    expect(await scheduler.abortOperation(operation.operationId)).toBe(false);
    expect(await scheduler.getOperation(operation.operationId)).toEqual(ended);
  });
});

describe("work that goes on beside an operation", () => {
  it("is followed to its next attempt, where a cancel finds that one has ended under its hands", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(
      broken.task(1, { retry: { attempts: 3, backoff: { firstMs: 3_600_000 } } }),
    );
    await scheduler.claim();
    const operation = await scheduler.startOperation(CANCEL_ALL);
    const slow = box.pool("slow");
    const pause = slow.pauseBefore("cancelTaskRun");
    const bite = carryOnOnce({ pool: slow, ahead: new LookAhead(), emit });
    await pause.reached;
    await scheduler.execute();
    await scheduler.settle();

    pause.resume();
    await bite;
    const ended = await carryToEnd(scheduler, operation);

    expect(ended).toMatchObject({ status: "DONE", done: 1, skipped: {} });
    expect(
      await box.query("SELECT attempt, status FROM signalbox.task_run WHERE task_id = $1 ORDER BY 1", [
        taskId,
      ]),
    ).toEqual([
      { attempt: 1, status: "FAILED" },
      { attempt: 2, status: "CANCELED" },
    ]);
  });

  it("and was retried by hand meanwhile is not retried again, and says why", async () => {
    const scheduler = await withFailed(3);
    const operation = await scheduler.startOperation(RETRY_FAILED);
    const [first] = (await scheduler.list({ status: ["FAILED"], limit: 1 })).taskRuns;
    if (first === undefined) throw new Error("None failed");
    const slow = box.pool("slow");
    const pause = slow.pauseBefore("lockTasks");
    const bite = carryOnOnce({ pool: slow, ahead: new LookAhead(), emit });
    await pause.reached;
    await scheduler.retry(first.taskRunId);
    await scheduler.runUntilIdle();

    pause.resume();
    await bite;

    expect(await scheduler.getOperation(operation.operationId)).toMatchObject({
      status: "DONE",
      done: 2,
      skipped: { LATER_ATTEMPT: 1 },
    });
    expect((await scheduler.listOperationItems(operation.operationId)).items).toEqual([
      {
        itemNo: 1,
        taskRunId: first.taskRunId,
        title: "broken",
        result: "skipped",
        reason: "LATER_ATTEMPT",
        detail: null,
      },
    ]);
    expect(await attempts()).toEqual({ 2: 3 });
  });

  it("and came after it was asked for is not meant", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { runAt: LATER }));
    const operation = await scheduler.startOperation(CANCEL_ALL);
    const late = await scheduler.enqueue(echo.task(2, { runAt: LATER }));

    expect(await carryToEnd(scheduler, operation)).toMatchObject({ done: 1 });
    expect(await box.statusOf(late.taskRunId)).toBe("PENDING");
  });

  it("is not canceled while a pass decides about it", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1, { runAt: LATER }), echo.task(2, { runAt: LATER })]);
    const operation = await scheduler.startOperation(CANCEL_ALL);
    const pass = await leaveOpen(box.pool("pass"), takeGateLock);

    const bite = carryOnOnce({ pool: box.pool("bite"), ahead: new LookAhead(), emit });
    await waitUntilBlocked(box.db.client, "bite");
    await pass.commit();

    expect(await bite).toEqual({ verb: "cancel", done: 2 });
    expect(await scheduler.getOperation(operation.operationId)).toMatchObject({ status: "DONE", done: 2 });
  });

  it("that the database refuses to change fails alone, and the others of its bite are done", async () => {
    const scheduler = await withFailed(20);
    const [refused] = (await scheduler.list({ status: ["FAILED"], limit: 1 })).taskRuns;
    if (refused === undefined) throw new Error("None failed");
    await box.query(
      `ALTER TABLE signalbox.task_run ADD CONSTRAINT planted CHECK (attempt = 1 OR task_id <> '${refused.taskId}') NOT VALID`,
    );
    const operation = await scheduler.startOperation(RETRY_FAILED);

    const ended = await carryToEnd(scheduler, operation);
    await box.query("ALTER TABLE signalbox.task_run DROP CONSTRAINT planted");

    expect(ended).toMatchObject({ status: "DONE", done: 19, failed: 1 });
    const failed = await scheduler.listOperationItems(operation.operationId, { result: "failed" });
    expect(failed.items).toMatchObject([{ taskRunId: refused.taskRunId, result: "failed", reason: "23514" }]);
    const again = await scheduler.startOperation({
      verb: "retry",
      filter: { ids: failed.items.map((item) => item.taskRunId) },
    });
    expect(await carryToEnd(scheduler, again)).toMatchObject({ done: 1, failed: 0 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("whoever presses twice", () => {
  it("has one operation, also at the same moment", async () => {
    const scheduler = await withFailed(3);
    const other = await box.scheduler({ name: "other" });

    const both = await Promise.all(
      [scheduler, other, scheduler, other].map(
        async (each) => await each.startOperation(RETRY_FAILED, { idempotencyKey: "press-1", by: "ana" }),
      ),
    );

    expect(new Set(both.map(({ operationId }) => operationId)).size).toBe(1);
    expect((await scheduler.listOperations()).operations).toHaveLength(1);
  });

  it("for something else is refused", async () => {
    const scheduler = await withFailed(1);
    await scheduler.startOperation(RETRY_FAILED, { idempotencyKey: "press-1" });

    await expect(
      scheduler.startOperation(
        { verb: "retry", filter: { status: ["CANCELED"] } },
        { idempotencyKey: "press-1" },
      ),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  });
});
