/** The statements of retention go by their indexes, however long the history is. */

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LONG_BACKLOG } from "../../test/long-backlog.ts";
import { joins, plansSentBy, reads } from "../../test/query-plans.ts";
import { asRunId, asTaskId } from "../domain/ids.ts";
import type { Transaction } from "./database.ts";
import { forgetKeys } from "./idempotency/keys.ts";
import { deleteEmptyRuns, deleteOfTaskRuns, deleteTasks, lockTasksToDelete } from "./retention/delete.ts";
import { readAgain, readAging } from "./retention/read.ts";
import { nextRange } from "./retention/walk.ts";
import { FIRST_PLACE } from "./task-runs/select.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const RUN = asRunId("00000000-0000-7000-8000-000000000002");

beforeAll(async () => {
  await box.query(LONG_BACKLOG);
}, 60_000);

const plansOf = async (work: (tx: Transaction) => Promise<unknown>) =>
  await plansSentBy(box.pool("planner"), work);

describe("retention", () => {
  const range = { afterId: FIRST_PLACE, toId: "ffffffff-ffff-ffff-ffff-ffffffffffff", isNew: true };
  const task = asTaskId("00000000-0000-7000-8000-000000000004");

  it("reads a bite as a range of the primary key, in its order, and what belongs to it by keys", async () => {
    const plans = await plansOf(async (tx) => {
      await readAging(tx, range, 500);
    });
    const again = await plansOf(async (tx) => {
      await readAgain(tx, range, [task]);
    });

    for (const nodes of [plans.get("readAging"), again.get("readAging")]) {
      expect(new Set(reads(nodes))).toEqual(
        new Set([
          "task_pkey",
          "task_run_one_per_attempt",
          "run_pkey",
          "hold_reserved_for",
          "hold_of_task_run",
        ]),
      );
      expect(joins(nodes)).toEqual([]);
      expect((nodes ?? []).map((node) => node["Node Type"])).not.toContain("Sort");
    }
  });

  it("deletes by keys", async () => {
    const plans = await plansOf(async (tx) => {
      await lockTasksToDelete(tx, [task]);
      await deleteTasks(tx, [task]);
      // Of none, which is what the one before has found, any index would do.
      await deleteOfTaskRuns(tx, [FIRST_PLACE]);
      await deleteEmptyRuns(tx, [RUN]);
    });

    expect(reads(plans.get("lockTasksToDelete"))).toEqual(["task_pkey"]);
    expect(reads(plans.get("deleteTaskRuns"))).toEqual(["task_run_one_per_attempt"]);
    expect(reads(plans.get("deleteResults"))).toEqual(["task_run_result_pkey"]);
    expect(reads(plans.get("deleteTasks"))).toEqual(["task_pkey"]);
    expect(reads(plans.get("deleteEmptyRuns"))).toEqual(["run_pkey", "task_of_run"]);
  });

  it("knows where to look by the few ranges that it left, and forgets keys by their age", async () => {
    const keepMs = { DONE: 1, FAILED: 1, CANCELED: 1 };
    const plans = await plansOf(async (tx) => {
      // Its last statement answers a row, always; here none does.
      await nextRange(tx, keepMs).catch(() => {});
      await forgetKeys(tx, 1, 500);
    });

    expect(reads(plans.get("dueRange"))).toEqual(["retention_range_pkey (whole)"]);
    expect(reads(plans.get("readWalk"))).toEqual(["retention_walk_pkey"]);
    expect(reads(plans.get("forgetKeys"))).toEqual(["idempotency_key_by_age", "Tid Scan idempotency_key"]);
  });
});
