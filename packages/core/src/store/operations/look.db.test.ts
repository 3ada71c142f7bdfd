import { afterAll, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { conditionsOf, plansSentBy, reads } from "../../../test/query-plans.ts";
import { lookOn } from "./look.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const FIRST = "00000000-0000-7000-8000-000000000000";
const LAST = "ffffffff-ffff-7fff-bfff-ffffffffffff";

it("a look at what has ended goes along the ids, and no further than it passes", async () => {
  const plans = await plansSentBy(
    box.pool("planner"),
    async (tx) =>
      await lookOn(tx, {
        verb: "retry",
        filter: { status: ["FAILED"] },
        afterId: FIRST,
        beforeId: LAST,
        limit: 100,
      }),
  );

  const plan = plans.get("lookAtEnded");
  expect(new Set(reads(plan))).toEqual(new Set(["task_run_pkey", "task_run_one_per_attempt"]));
  expect(conditionsOf(plan, "task_run_pkey")).toContainEqual(expect.stringMatching(/id <= COALESCE/));
});
