/** What has been kept long enough goes, whole and in bites; what is open, held or too young never does. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { makeOlder } from "../../test/make-older.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked, waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import { asTaskId, firstIdAt } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { KeepMs } from "../domain/retention.ts";
import type { Pool } from "../store/database.ts";
import { tryPruneLock } from "../store/retention/walk.ts";
import { pruneOnce } from "./pruner.ts";
import { retryOnce } from "./retrier.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEEP: KeepMs = { DONE: 7 * DAY, FAILED: 30 * DAY, CANCELED: 7 * DAY };
const LATER = { runAt: new Date("2090-01-01") };
const TABLES = ["task", "task_run", "task_run_result", "event_store", "run", "idempotency_key"] as const;

async function counts(): Promise<Readonly<Record<string, number>>> {
  const counted: Record<string, number> = {};
  for (const table of TABLES) counted[table] = await count(table);
  return counted;
}
const count = async (table: string): Promise<number> =>
  await box.value<number>(`SELECT count(*)::int FROM signalbox.${table}`);

interface Pruned {
  readonly events: readonly SchedulerEvent[];
  readonly passes: number;
}
/** Until it rests. */
async function prune(keepMs: KeepMs = KEEP, pool: Pool = box.pool("pruner")): Promise<Pruned> {
  const events: SchedulerEvent[] = [];
  let passes = 1;
  while (await pruneOnce({ pool, keepMs, emit: (event) => events.push(event) })) passes += 1;
  return { events, passes };
}
const prunedTasks = ({ events }: Pruned): number =>
  events.reduce((sum, event) => sum + (event.type === "retention.pruned" ? event.tasks : 0), 0);

describe("a task that has been kept long enough", () => {
  it("goes with its attempts, results, events and its run, and the pruner says so", async () => {
    const scheduler = await box.scheduler();
    const retry = { attempts: 3, backoff: { firstMs: 0 } };
    const inTime = { timeouts: { queuedMs: 20 * DAY } };
    await scheduler.enqueueMany([broken.task(1, { retry }), echo.task(2, inTime)], {
      run: { title: "nightly" },
    });
    await scheduler.enqueue(echo.task({ rows: 3 }), { idempotencyKey: "order-42" });
    const { taskId } = await scheduler.enqueue(echo.task(1, LATER));
    await scheduler.cancel(taskId);
    await scheduler.runUntilIdle();
    expect(await counts()).toMatchObject({ task: 4, task_run: 6, run: 1, idempotency_key: 1 });
    await makeOlder(box, 31 * DAY);

    const { events } = await prune();

    expect(events).toEqual([
      { type: "retention.pruned", tasks: 4, taskRuns: 6, runs: 1, idempotencyKeys: 1, operations: 0 },
    ]);
    expect(await counts()).toEqual({
      task: 0,
      task_run: 0,
      task_run_result: 0,
      event_store: 0,
      run: 0,
      idempotency_key: 0,
    });
    expect([await count("retention_range"), await count("queue_deadline")]).toEqual([0, 0]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("goes with what its run was paused by", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" } });
    await scheduler.runUntilIdle();
    if (runId !== null) await scheduler.pause({ runId });
    await scheduler.pause({ queue: "mail" });
    await makeOlder(box, 31 * DAY);

    await prune();

    expect(await box.query("SELECT over, name FROM signalbox.pause")).toEqual([
      { over: "queue", name: "mail" },
    ]);
    expect(await box.query("SELECT data->>'scope' AS scope FROM signalbox.event_store")).toEqual([
      { scope: "queue:mail" },
    ]);
  });

  it("goes by how it ended, and by what is asked for at the moment", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), echo.task(2), broken.task(3)]);
    await scheduler.runUntilIdle();
    await makeOlder(box, 8 * DAY);

    expect(prunedTasks(await prune())).toBe(2);
    expect(await box.query("SELECT status FROM signalbox.task_run")).toEqual([{ status: "FAILED" }]);
    // Kept shorter from now on: what the walk has left behind is due by that, too.
    expect(prunedTasks(await prune({ ...KEEP, FAILED: 8 * DAY }))).toBe(1);
  });

  it("is not looked at before it can be due, and not left for ever", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), broken.task(2)]);
    await scheduler.enqueue(echo.task(3, LATER));
    await scheduler.runUntilIdle();
    await makeOlder(box, 8 * DAY);
    await prune();
    expect(await count("task")).toBe(2);
    const pool = box.pool("pruner");
    // Whatever is read of it now would be read for nothing.
    pool.answer("readAging", []);
    const range = await box.query("SELECT * FROM signalbox.retention_range");

    await prune(KEEP, pool);

    expect(range).toHaveLength(1);
    expect(await box.query("SELECT * FROM signalbox.retention_range")).toEqual(range);
    await scheduler.cancelMany({ kind: "echo" });
    await makeOlder(box, 8 * DAY);
    expect(prunedTasks(await prune())).toBe(1);
    await makeOlder(box, 30 * DAY);
    expect(prunedTasks(await prune())).toBe(1);
    expect(await counts()).toMatchObject({ task: 0, task_run: 0 });
    expect(await count("retention_range")).toBe(0);
  });

  it("goes in bites, and each bite ends where the next begins", async () => {
    const scheduler = await box.scheduler({ slots: 500, batchSize: 500 });
    await scheduler.enqueueMany(Array.from({ length: 1_200 }, (_, index) => echo.task(index)));
    await scheduler.runUntilIdle();
    const open = await scheduler.enqueueMany(Array.from({ length: 3 }, () => echo.task(1, LATER)));
    await makeOlder(box, 8 * DAY);

    const { events, passes } = await prune();

    expect(events.map((event) => event.type === "retention.pruned" && event.tasks)).toEqual([500, 500, 200]);
    expect(passes).toBe(3);
    expect(await count("task")).toBe(open.taskRuns.length);
    expect((await prune()).events).toEqual([]);
  });

  it("goes in bites also from behind the walk, where more came than one bite takes", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany(Array.from({ length: 501 }, (_, n) => echo.task(n)));
    await scheduler.runUntilIdle();
    await makeOlder(box, 8 * DAY);
    const aLittleYounger = firstIdAt(new Date(Date.now() - 7.5 * DAY));
    await box.query("INSERT INTO signalbox.retention_walk (walked_to) VALUES ($1)", [aLittleYounger]);
    await box.query(
      `INSERT INTO signalbox.retention_range (after_id, to_id, open_seen_at)
       VALUES ('00000000-0000-0000-0000-000000000000', $1, '-infinity')`,
      [aLittleYounger],
    );

    expect(prunedTasks(await prune())).toBe(501);
  });

  it("is found behind the walk, where its transaction was open while the walk went by", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();
    await makeOlder(box, 8 * DAY);
    const aLittleYounger = firstIdAt(new Date(Date.now() - 7.5 * DAY));
    await box.query("INSERT INTO signalbox.retention_walk (walked_to) VALUES ($1)", [aLittleYounger]);
    for (let look = 0; look < 2; look += 1) expect(prunedTasks(await prune())).toBe(0);

    await box.query("UPDATE signalbox.retention_walk SET began_at = began_at - interval '31 days'");

    // This one comes to the end of the old walk, the next begins anew.
    expect(prunedTasks(await prune())).toBe(0);
    expect(prunedTasks(await prune())).toBe(1);
  });
});

describe("never pruned is", () => {
  it("what is open, and what belongs to a run that goes on", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2, LATER)], {
      run: { title: "long" },
    });
    await scheduler.runUntilIdle();
    await scheduler.enqueue(echo.task(3));
    await scheduler.claim();
    await scheduler.enqueue(echo.task(4));
    await makeOlder(box, 100 * DAY);

    expect(prunedTasks(await prune())).toBe(0);

    expect(await count("task")).toBe(4);
    // Its run ends now, and from there on its tasks are kept as long as any other.
    await scheduler.cancelMany({ ids: taskRuns.map(({ taskRunId }) => taskRunId) });
    await makeOlder(box, 6 * DAY);
    expect(prunedTasks(await prune())).toBe(0);
    await makeOlder(box, 2 * DAY);
    expect(prunedTasks(await prune())).toBe(2);
    expect(await count("run")).toBe(0);
  });

  it("a task whose run ended a short while ago, however long ago itself did", async () => {
    const scheduler = await box.scheduler();
    const specs = [echo.task(1), echo.task(2, LATER)];
    const { runId } = await scheduler.enqueueMany(specs, { run: { title: "long" } });
    await scheduler.runUntilIdle();
    await makeOlder(box, 100 * DAY);
    if (runId !== null) await scheduler.cancelRun(runId);

    expect(prunedTasks(await prune())).toBe(0);
    await makeOlder(box, 8 * DAY);
    expect(prunedTasks(await prune())).toBe(2);
  });

  it("a run of which a task is left", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), broken.task(2)], { run: { title: "nightly" } });
    await scheduler.runUntilIdle();
    await makeOlder(box, 8 * DAY);

    expect(prunedTasks(await prune())).toBe(1);
    expect(await counts()).toMatchObject({ task: 1, run: 1 });
    await makeOlder(box, 30 * DAY);
    expect(prunedTasks(await prune())).toBe(1);
    expect(await counts()).toMatchObject({ task: 0, run: 0, event_store: 0 });
  });

  it("what holds something, or what something is kept for", async () => {
    const scheduler = await box.scheduler();
    const [one, other] = [await scheduler.enqueue(echo.task(1)), await scheduler.enqueue(echo.task(2))];
    await scheduler.runUntilIdle();
    await box.query(
      `INSERT INTO signalbox.hold (scope, slot, task_run_id, reserved_for)
       VALUES ('resource:a', 0, $1, NULL), ('resource:b', 0, NULL, $2)`,
      [one.taskRunId, other.taskId],
    );
    await makeOlder(box, 100 * DAY);

    expect(prunedTasks(await prune())).toBe(0);

    await box.query("DELETE FROM signalbox.hold");
    await makeOlder(box, 7 * DAY);
    expect(prunedTasks(await prune())).toBe(2);
  });

  it("anything, where all is to be kept for ever; and nothing that is younger than an hour, however short", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();
    const never = { DONE: Infinity, FAILED: Infinity, CANCELED: Infinity };
    const soon = { DONE: 0, FAILED: 0, CANCELED: 0 };

    expect(prunedTasks(await prune(soon))).toBe(0);
    await makeOlder(box, 2 * HOUR);
    expect(prunedTasks(await prune(never))).toBe(0);
    expect(prunedTasks(await prune(soon))).toBe(1);
  });

  it("a start that a rate counts, for as long as the longest period is, however short tasks are kept", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: DAY });
    await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { rate: "sms" })));
    await scheduler.runUntilIdle();
    const soon = { DONE: 0, FAILED: 0, CANCELED: 0 };
    const started = async (): Promise<number> =>
      await box.value<number>("SELECT count(*)::int FROM signalbox.task_run WHERE claimed_at IS NOT NULL");
    await makeOlder(box, 23 * HOUR);

    expect(prunedTasks(await prune(soon))).toBe(0);
    await scheduler.sweep();
    await scheduler.runUntilIdle();
    expect(await started()).toBe(1);

    await makeOlder(box, HOUR);
    expect(prunedTasks(await prune(soon))).toBe(1);
  });

  it("a key that is younger than thirty days, whatever became of its task", async () => {
    const scheduler = await box.scheduler();
    const enqueue = async () => await scheduler.enqueue(echo.task(1), { idempotencyKey: "order-42" });
    const first = await enqueue();
    await scheduler.runUntilIdle();
    await makeOlder(box, 29 * DAY);

    expect(prunedTasks(await prune())).toBe(1);
    expect(await enqueue()).toEqual(first);
    await makeOlder(box, 2 * DAY);
    await prune();
    expect(await enqueue()).not.toEqual(first);
  });

  it("more keys than a bite takes, for the bites that follow", async () => {
    await box.query(
      `INSERT INTO signalbox.idempotency_key (key, request_hash, created_at)
       SELECT 'order-' || n, '\\x00', clock_timestamp() - interval '31 days' FROM generate_series(1, 501) AS n`,
    );

    const { events } = await prune();

    expect(events).toMatchObject([{ idempotencyKeys: 500 }, { idempotencyKeys: 1 }]);
  });
});

describe("the pruner and others at the same moment", () => {
  async function oldFailure(inRun = true): Promise<string> {
    const scheduler = await box.scheduler();
    const spec = broken.task(1, { resources: [exclusive("orders")] });
    await scheduler.enqueueMany([spec], inRun ? { run: { title: "nightly" } } : {});
    await scheduler.runUntilIdle();
    await makeOlder(box, 31 * DAY);
    return await box.value<string>("SELECT id FROM signalbox.task");
  }

  it.each([
    ["alone", false],
    ["in a run", true],
  ])("a retry first: the pruner that has chosen its task (%s) waits, and leaves it", async (_, inRun) => {
    const taskId = await oldFailure(inRun);
    const pruning = box.pool("pruner");
    const pause = pruning.pauseBefore(inRun ? "lockRuns" : "lockTasksToDelete");
    const retrying = box.pool("retrier");
    const retried = retrying.pauseBefore("COMMIT");

    const pruned = prune(KEEP, pruning);
    await pause.reached;
    const retry = retryOnce(retrying, taskId, null);
    await retried.reached;
    pause.resume();
    await waitUntilBlocked(box.db.client, "pruner");
    retried.resume();

    expect(await retry).toMatchObject({ attempt: 2 });
    expect(prunedTasks(await pruned)).toBe(0);
    expect(await counts()).toMatchObject({ task: 1, task_run: 2, run: inRun ? 1 : 0 });
    const scheduler = await box.scheduler();
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it.each([
    ["alone", false],
    ["in a run", true],
  ])("the pruner first: the retry (%s) waits, and finds no task any more", async (_, inRun) => {
    const taskId = await oldFailure(inRun);
    const pruning = box.pool("pruner");
    const pause = pruning.pauseBefore("COMMIT");

    const pruned = prune(KEEP, pruning);
    await pause.reached;
    const retry = retryOnce(box.pool("retrier"), taskId, null);
    retry.catch(() => {});
    await waitUntilBlocked(box.db.client, "retrier");
    pause.resume();

    expect(prunedTasks(await pruned)).toBe(1);
    await expect(retry).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    expect(await counts()).toMatchObject({ task: 0, task_run: 0, run: 0 });
  });

  it("a stop that is put on a task that is going: it waits, and finds no task", async () => {
    const taskId = asTaskId(await oldFailure(false));
    const scheduler = await box.scheduler({ name: "stopper" });
    const pruning = box.pool("pruner");
    const pause = pruning.pauseBefore("COMMIT");

    const pruned = prune(KEEP, pruning);
    await pause.reached;
    const put = scheduler.putStop(taskId, "APPROVAL");
    put.catch(() => {});
    await waitUntilBlockedOrDone(box.db.client, "signalbox stopper", put);
    pause.resume();

    expect(prunedTasks(await pruned)).toBe(1);
    await expect(put).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    expect(await count("stop")).toBe(0);
  });

  it("another pruner: it does not wait, it leaves it to the other", async () => {
    await oldFailure();
    const other = await leaveOpen(box.pool("other"), tryPruneLock);

    expect(await prune()).toEqual({ events: [], passes: 1 });
    await other.commit();
    expect(prunedTasks(await prune())).toBe(1);
  });
});
