import { describe, expect, it } from "vitest";
import { candidate, snapshot } from "../../testing/builders.ts";
import { asRunId, asTaskRunId } from "../ids.ts";
import { planPromotions } from "../promotion.ts";
import { exclusive, shared } from "../resource.ts";

// In line by these ids.
const first = asTaskRunId("1st");
const third = asTaskRunId("3rd");
const nightly = asRunId("nightly");
const orders = "prod/orders";
const users = "prod/users";

function idsOf(plan: ReturnType<typeof planPromotions>): readonly string[] {
  return plan.promote.map(({ taskRunId }) => taskRunId);
}

describe("a task whose instance was lost", () => {
  const goesOn = candidate({ taskRunId: third, resources: [exclusive(orders), shared(users)], version: "2" });
  const keptForIt = { reservedFor: goesOn.taskId };

  it("gets the resource that was kept for it, and is told that it was", () => {
    const plan = planPromotions(snapshot({ candidates: [goesOn], resources: { [orders]: keptForIt } }));

    expect(plan.promote[0]?.resourceSlots).toEqual([
      { name: orders, slot: 0, wasReserved: true },
      { name: users, slot: 1, wasReserved: false },
    ]);
  });

  it("goes on before those ahead of it in line, which wait for what is kept for it", () => {
    const ahead = candidate({ taskRunId: first, resources: [exclusive(orders), exclusive(users)] });

    const plan = planPromotions(
      snapshot({ candidates: [ahead, goesOn], resources: { [orders]: keptForIt } }),
    );

    expect(idsOf(plan)).toEqual([third]);
    expect(plan.waiting.get(first)).toMatchObject({ because: "reserved", reservedFor: goesOn.taskId });
  });

  it("goes on before a smaller version that came meanwhile", () => {
    const smaller = candidate({ taskRunId: first, resources: [exclusive(orders)], version: "1" });
    const lowestOpenVersion = { version: "1", taskRunId: first };

    const plan = planPromotions(
      snapshot({
        candidates: [smaller, goesOn],
        resources: { [orders]: { ...keptForIt, lowestOpenVersion } },
      }),
    );

    expect(idsOf(plan)).toEqual([third]);
  });

  it("holds the resource like anybody else once it is admitted", () => {
    const fourth = asTaskRunId("4th");

    const plan = planPromotions(
      snapshot({
        candidates: [goesOn, candidate({ taskRunId: fourth, resources: [exclusive(orders)] })],
        resources: { [orders]: keptForIt },
      }),
    );

    expect(plan.waiting.get(fourth)).toMatchObject({ because: "held", blockers: [third], reservedFor: null });
  });

  it("waits for its run's limit as everybody does", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [{ ...goesOn, runId: nightly }],
        resources: { [orders]: keptForIt },
        limits: { "run:nightly": { limit: 1, active: 1 } },
      }),
    );

    expect(plan.waiting.get(third)).toMatchObject({ code: "RUN_LIMIT" });
  });
});
