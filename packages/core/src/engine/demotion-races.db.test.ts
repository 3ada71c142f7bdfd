/** A pass gives back what demoted task runs held and takes what others need; a settle of both meets it. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import { shared } from "../domain/resource.ts";
import { promoteOnce } from "./promoter.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it("neither waits for the other for ever", async () => {
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
