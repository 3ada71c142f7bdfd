import { describe, expect, it } from "vitest";
import { candidate, snapshot } from "../testing/builders.ts";
import { asRunId, asTaskRunId } from "./ids.ts";
import { planPromotions } from "./promotion.ts";
import { exclusive } from "./resource.ts";

// In line by these ids.
const first = asTaskRunId("1st");
const second = asTaskRunId("2nd");
const third = asTaskRunId("3rd");
const holder = asTaskRunId("holder");
const nightly = asRunId("nightly");
const orders = "prod/orders";

function idsOf(plan: ReturnType<typeof planPromotions>): readonly string[] {
  return plan.promote.map(({ taskRunId }) => taskRunId);
}

describe("run slots", () => {
  const members = [first, second, third].map((taskRunId) => candidate({ taskRunId, runId: nightly }));

  it("admits up to the run's limit in line order, counting what it admitted itself", () => {
    const plan = planPromotions(snapshot({ candidates: members, runs: { nightly: { limit: 2 } } }));

    expect(idsOf(plan)).toEqual([first, second]);
    expect(plan.waiting.get(third)).toEqual({ code: "RUN_LIMIT", runId: nightly, limit: 2, active: 2 });
  });

  it("hands out the free slots, lowest first", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, runs: { nightly: { limit: 4, active: 2, freeSlots: [1, 3] } } }),
    );

    expect(plan.promote.map(({ runSlot }) => runSlot)).toEqual([
      { runId: nightly, slot: 1 },
      { runId: nightly, slot: 3 },
    ]);
  });

  it("admits nobody while more are active than a lowered limit allows, though low slots are free", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, runs: { nightly: { limit: 2, active: 3, freeSlots: [0, 1] } } }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(first)).toMatchObject({ code: "RUN_LIMIT", limit: 2, active: 3 });
  });

  it("admits everybody of a run without a limit, each on a slot of its own", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, runs: { nightly: { limit: 0, active: 5 } } }),
    );

    expect(plan.promote.map(({ runSlot }) => runSlot?.slot)).toEqual([5, 6, 7]);
  });

  it("spends no slot on one that waits for a resource", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly, resources: [exclusive(orders)] }),
          candidate({ taskRunId: second, runId: nightly }),
        ],
        resources: { [orders]: { exclusiveHolder: holder } },
        runs: { nightly: { limit: 1 } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });

  it("counts each run by itself", () => {
    const weekly = asRunId("weekly");

    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly }),
          candidate({ taskRunId: second, runId: weekly }),
        ],
        runs: { nightly: { limit: 1, active: 1 }, weekly: { limit: 1 } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });
});

describe("a snapshot that lacks a fact", () => {
  function reasons(plan: ReturnType<typeof planPromotions>): readonly (readonly [string, string])[] {
    return [...plan.failed].map(([taskRunId, error]) => [taskRunId, String(error)]);
  }

  it("fails the candidate whose resource it lacks, and nobody else", () => {
    const plan = planPromotions({
      ...snapshot({
        candidates: [candidate({ taskRunId: first, resources: [exclusive(orders)] }), candidate()],
      }),
      resources: new Map(),
    });

    expect(reasons(plan)).toEqual([[first, 'Error: The snapshot lacks the resource "prod/orders"']]);
    expect(idsOf(plan)).toEqual([candidate().taskRunId]);
    expect(plan.waiting.size).toBe(0);
  });

  it("fails the candidate whose run it lacks", () => {
    const plan = planPromotions({
      ...snapshot({ candidates: [candidate({ taskRunId: first, runId: nightly })] }),
      runs: new Map(),
    });

    expect(reasons(plan)).toEqual([[first, "Error: The snapshot lacks the run nightly"]]);
  });

  it("fails the candidate for which it names no free slot, and gives the resource to the next", () => {
    const resources = [exclusive(orders)];

    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly, resources }),
          candidate({ taskRunId: second, resources }),
        ],
        runs: { nightly: { limit: 3, active: 1, freeSlots: [] } },
      }),
    );

    expect(reasons(plan)).toEqual([[first, "Error: The snapshot names too few free slots of run nightly"]]);
    expect(idsOf(plan)).toEqual([second]);
  });
});
