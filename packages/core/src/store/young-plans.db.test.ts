/** Before the server knows how long a table is, it takes it for short. What is asked again and again must not go through all of it. */

import { afterAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId } from "../domain/ids.ts";
import { takeOutsideJobs } from "./outside-jobs/take.ts";
import { listRunning } from "./task-runs/claim.ts";
import { findOverdue } from "./task-runs/fail-overdue.ts";
import { findLost } from "./task-runs/rescue.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const INSTANCE = asInstanceId("00000000-0000-4000-8000-000000000003");

it("what looks after task runs that were claimed finds them by their ids", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany(Array.from({ length: 5_000 }, (_, n) => echo.task(n)));

  const plans = await plansSentBy(box.pool("planner"), async (tx) => {
    await findLost(tx, 100);
    await listRunning(tx, INSTANCE);
    await takeOutsideJobs(tx, { instanceId: INSTANCE, kinds: ["echo"], freeSlots: 100, requestNo: 1 });
    await findOverdue(tx, 100);
  });

  for (const [name, nodes] of plans) {
    const read = reads(nodes);
    expect(read, name).toContain("task_run_pkey");
    expect(read, name).not.toContain("task_run_pkey (whole)");
    expect(read, name).not.toContain("task_pkey (whole)");
  }
});
