/** What is sent back from AVAILABLE meets a settle of its neighbours and a cancel of itself. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlocked, waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { cancelOnce } from "./canceler.ts";
import { promoteOnce } from "./promoter.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it("a pass that gives back and takes, and a settle: neither waits for the other for ever", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(0, { resources: [shared("a"), shared("b")] }));
  await scheduler.promote();
  await scheduler.claim();
  const closing = await scheduler.enqueue(echo.task(1, { resources: [shared("b")] }));
  await scheduler.promote();
  await box.query("UPDATE signalbox.ready SET open_until = clock_timestamp() WHERE task_run_id = $1", [
    closing.taskRunId,
  ]);
  const next = await scheduler.enqueue(echo.task(2, { resources: [shared("a")] }));
  const settler = createSettler({ pool: box.pool("settler"), batchSize: 10, emit: () => {} });
  for (const { claim } of scheduler.held.all())
    settler.add(claim, scheduler.instanceId, { kind: "succeeded", output: 0 }, scheduler.held);
  const pool = box.pool("promoter");
  const pause = pool.pauseBefore("countResourceUse");
  const pass = promoteOnce({ pool, batchSize: 10 });
  await pause.reached;

  const settling = settler.settleOnce();
  await waitUntilBlockedOrDone(box.db.client, "settler", settling);
  pause.resume();

  // 40P01 is the server's way to say that each waited for the other.
  await expect(Promise.all([pass, settling])).resolves.toMatchObject([
    { demoted: [closing.taskRunId], promoted: expect.arrayContaining([next.taskRunId]) },
    {},
  ]);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("what a cancel has ended is not sent back, though the cancel had looked before it was AVAILABLE", async () => {
  const scheduler = await box.scheduler({ name: "ruler" });
  const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
  const canceler = box.pool("canceler");
  const beforeIt = canceler.pauseBefore("cancelTaskRun");
  const canceling = cancelOnce(canceler, taskRunId, { by: null, reason: null });
  await beforeIt.reached;
  await scheduler.promote();
  // It holds the row, and has not come to what the promotion put into the work set.
  const afterIt = canceler.pauseBefore("leaveReadyAgain");
  beforeIt.resume();
  await afterIt.reached;

  const pausing = scheduler.pause({ resource: "orders" });
  await waitUntilBlocked(box.db.client, "signalbox ruler");
  afterIt.resume();

  expect(await canceling).toBe("canceled");
  expect(await pausing).toBe(true);
  expect(await box.statusOf(taskRunId)).toBe("CANCELED");
  expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});
