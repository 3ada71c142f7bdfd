/** Later run times by hand: what they do to a task run in each status, and what its neighbours get from it. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { deferOnce } from "./deferrer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = new Date("2090-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;
const NOBODY = { by: null, reason: null };

it("gives a pending task run another time, says who wanted it, and waits there", async () => {
  const scheduler = await box.scheduler();
  const { taskId, taskRunId } = await scheduler.enqueue(
    echo.task(1, { runAt: new Date(Date.now() + HOUR_MS) }),
  );

  const deferred = await scheduler.defer(taskId, {
    runAt: LATER,
    by: "ana",
    reason: "the month is closed first",
  });

  expect(deferred).toEqual({ taskId, taskRunId, runAt: LATER });
  expect(await scheduler.get(taskRunId)).toMatchObject({
    status: "PENDING",
    blockedOn: "RUN_AT",
    runAt: LATER,
  });
  const explained = await scheduler.explain(taskRunId);
  expect(explained.gates.find(({ code }) => code === "RUN_AT")).toMatchObject({ state: "blocking" });
  expect(
    await box.query(
      "SELECT type, data->>'by' AS by, data->>'reason' AS reason FROM signalbox.event_store WHERE aggregate_id = $1",
      [taskRunId],
    ),
  ).toEqual([{ type: "task_run.deferred_by_hand", by: "ana", reason: "the month is closed first" }]);
  await scheduler.runUntilIdle();
  expect(await box.statusOf(taskRunId)).toBe("PENDING");
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("runs when its new time has come", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(1, { runAt: LATER }));

  await scheduler.defer(taskRunId, { delayMs: 1 });
  await scheduler.sweep();
  await scheduler.runUntilIdle();

  expect(await box.statusOf(taskRunId)).toBe("DONE");
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("takes an available one back, and what it held goes to the next", async () => {
  const scheduler = await box.scheduler();
  const resources = [exclusive("orders")];
  const first = await scheduler.enqueue(echo.task(1, { resources }));
  await scheduler.promote();
  const second = await scheduler.enqueue(echo.task(2, { resources }));
  await scheduler.promote();

  await scheduler.defer(first.taskRunId, { delayMs: HOUR_MS });
  await scheduler.promote();

  expect(await box.statusOf(first.taskRunId)).toBe("PENDING");
  expect(await box.statusOf(second.taskRunId)).toBe("AVAILABLE");
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("takes one back to which no gate applies", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId, status } = await scheduler.enqueue(echo.task(1));

  await scheduler.defer(taskRunId, { delayMs: HOUR_MS });

  expect(status).toBe("AVAILABLE");
  expect(await scheduler.claim()).toEqual([]);
  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "PENDING", blockedOn: "RUN_AT" });
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("lets those go that stood behind it in a line", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(0, { resources: [shared("orders")] }));
  await scheduler.promote();
  const [ahead, behind] = [
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] })),
    await scheduler.enqueue(echo.task(2, { resources: [shared("orders")] })),
  ];
  await scheduler.promote();
  expect(await box.statusOf(behind.taskRunId)).toBe("PENDING");

  await scheduler.defer(ahead.taskRunId, { delayMs: HOUR_MS });
  await scheduler.promote();

  expect(await box.statusOf(behind.taskRunId)).toBe("AVAILABLE");
  expect(await box.statusOf(ahead.taskRunId)).toBe("PENDING");
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("is refused for what runs or has ended, and changes nothing there", async () => {
  const scheduler = await box.scheduler({ slots: 1 });
  const failed = await scheduler.enqueue(broken.task(1));
  await scheduler.runUntilIdle();
  const running = await scheduler.enqueue(echo.task(1));
  await scheduler.claim();

  await expect(scheduler.defer(running.taskRunId, { delayMs: 1 })).rejects.toMatchObject({
    code: "NOT_DEFERRABLE",
    message: `${running.taskRunId} cannot be deferred: it is RUNNING, and only what has not started can be`,
  });
  await expect(scheduler.defer(failed.taskRunId, { delayMs: 1 })).rejects.toMatchObject({
    code: "NOT_DEFERRABLE",
    message: `${failed.taskRunId} cannot be deferred: it is FAILED`,
  });
});

it("is refused where the time is not ahead by the database's clock, and what was available stays so", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(1));

  await expect(scheduler.defer(taskRunId, { runAt: new Date(0) })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "runAt: is not ahead; give a later instant",
  });
  await expect(scheduler.defer(taskRunId, {})).rejects.toMatchObject({
    message: "options: need runAt or delayMs, and not both",
  });
  expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
});

it("gives way to a claim that was before it", async () => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(1));
  const claiming = box.pool("claiming");
  const deferring = box.pool("deferring");
  const pause = claiming.pauseBefore("COMMIT");
  const claimed = claiming.transaction(async (tx) => {
    await tx.query({
      name: "takeReady",
      text: "DELETE FROM signalbox.ready WHERE task_run_id = $1",
      values: [taskRunId],
    });
    await tx.query({
      name: "run",
      text: `UPDATE signalbox.task_run SET status = 'RUNNING', claim_no = nextval('signalbox.claim_no'),
                    claimed_at = clock_timestamp(), claimed_by = $2, row_version = row_version + 1 WHERE id = $1`,
      values: [taskRunId, scheduler.instanceId],
    });
  });
  await pause.reached;

  const refused = expect(deferOnce(deferring, taskRunId, { delayMs: HOUR_MS }, NOBODY)).rejects.toMatchObject(
    {
      code: "NOT_DEFERRABLE",
    },
  );
  await waitUntilBlocked(box.db.client, "deferring");
  pause.resume();
  await claimed;

  await refused;
  expect(await box.statusOf(taskRunId)).toBe("RUNNING");
});
