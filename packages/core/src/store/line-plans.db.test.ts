/** What goes on in lines goes by indexes, however many others wait, hold something or have ended. */

import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LONG_BACKLOG } from "../../test/long-backlog.ts";
import { joins, plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId, asTaskRunId } from "../domain/ids.ts";
import { IN_INDEX_ORDER } from "./session.ts";
import { goOnInLines } from "./task-runs/go-on.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

beforeAll(async () => {
  await box.query(LONG_BACKLOG);
}, 60_000);

it("a slot that goes on finds the one that ends, who is next, and all that is asked of both by their keys", async () => {
  const request = {
    instanceId: asInstanceId("00000000-0000-4000-8000-000000000003"),
    kinds: ["echo"],
    taskRunIds: [asTaskRunId("00000000-0000-7000-8000-000000000001")],
    claimNo: 1,
    requestNo: 1,
  };

  const plan = (
    await plansSentBy(box.pool("planner"), async (tx) => await goOnInLines(tx, request), IN_INDEX_ORDER)
  ).get("goOnInLines");

  expect(new Set(reads(plan))).toEqual(
    new Set([
      "task_run_pkey",
      "instance_pkey",
      "hold_of_task_run",
      "waiting_for_version",
      "line_pkey",
      "open_version_pkey",
      "open_version_of_task_run",
      "done_version_pkey",
      "waiting_pkey",
      "queue_pkey",
      "pause_pkey",
      "start_window_pkey",
      "stop_pkey",
      "hold_pkey",
      "claim_batch_pkey",
      "task_pkey",
    ]),
  );
  expect(joins(plan)).toEqual([]);
});
