import { describe, expect, it } from "vitest";
import { candidate, lineEntry, snapshot } from "../testing/builders.ts";
import { asRunId, asTaskRunId } from "./ids.ts";
import { planPromotions } from "./promotion.ts";
import { exclusive, shared } from "./resource.ts";

// In line by these ids, unless a test says otherwise.
const first = asTaskRunId("1st");
const second = asTaskRunId("2nd");
const third = asTaskRunId("3rd");
const holder = asTaskRunId("holder");
const nightly = asRunId("nightly");
const orders = "prod/orders";
const users = "prod/users";
const later = new Date("2026-11-15T12:00:01.000Z");

function idsOf(plan: ReturnType<typeof planPromotions>): readonly string[] {
  return plan.promote.map(({ taskRunId }) => taskRunId);
}

describe("a promotion pass", () => {
  it("admits a task run that no gate concerns, and gives it nothing to hold", () => {
    const plan = planPromotions(snapshot({ candidates: [candidate({ taskRunId: first })] }));

    expect(plan.promote).toEqual([
      { taskRunId: first, limitSlots: [], resourceSlots: [], rateSlot: null, openUntil: null },
    ]);
    expect(plan.waiting.size).toBe(0);
  });

  it("plans nothing when nobody asks", () => {
    const plan = planPromotions(snapshot());

    expect(plan).toEqual({ promote: [], waiting: new Map(), failed: new Map() });
  });

  it("says for each one that waits under which gate it waits", () => {
    const plan = planPromotions(snapshot({ candidates: [candidate({ taskRunId: first, runAt: later })] }));

    expect(plan.promote).toEqual([]);
    expect(plan.waiting).toEqual(new Map([[first, { code: "RUN_AT", runAt: later }]]));
  });

  it("looks at the candidates in line order, in whatever order they were read", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, priority: 9 }),
          candidate({ taskRunId: second, priority: 5, enqueuedUs: 2 }),
          candidate({ taskRunId: third, priority: 5, enqueuedUs: 1 }),
        ],
      }),
    );

    expect(idsOf(plan)).toEqual([third, second, first]);
  });

  it("leaves the snapshot as it was", () => {
    const read = snapshot({
      candidates: [
        candidate({ taskRunId: second, resources: [exclusive(orders)], runId: nightly }),
        candidate({ taskRunId: first, resources: [shared(orders)], runId: nightly }),
      ],
      resources: { [orders]: { line: [lineEntry({ taskRunId: second })] } },
      limits: { "run:nightly": { limit: 2 } },
    });
    const before = structuredClone(read);

    planPromotions(read);

    expect(read).toEqual(before);
  });
});

describe("resources", () => {
  it("admits one of two task runs that want the same resource alone", () => {
    const resources = [exclusive(orders)];

    const plan = planPromotions(
      snapshot({
        candidates: [candidate({ taskRunId: first, resources }), candidate({ taskRunId: second, resources })],
      }),
    );

    expect(idsOf(plan)).toEqual([first]);
    expect(plan.waiting.get(second)).toMatchObject({
      code: "RESOURCE_BUSY",
      resource: orders,
      because: "held",
      blockers: [first],
    });
  });

  it("admits all that share, each on a slot of its own above those in use", () => {
    const resources = [shared(orders)];

    const plan = planPromotions(
      snapshot({
        candidates: [candidate({ taskRunId: first, resources }), candidate({ taskRunId: second, resources })],
        resources: { [orders]: { sharedHolders: [holder], nextSharedSlot: 4 } },
      }),
    );

    expect(plan.promote.map(({ resourceSlots }) => resourceSlots)).toEqual([
      [{ name: orders, slot: 4, wasReserved: false }],
      [{ name: orders, slot: 5, wasReserved: false }],
    ]);
  });

  it("gives the one that has it alone slot 0", () => {
    const plan = planPromotions(
      snapshot({ candidates: [candidate({ taskRunId: first, resources: [exclusive(orders)] })] }),
    );

    expect(plan.promote[0]?.resourceSlots).toEqual([{ name: orders, slot: 0, wasReserved: false }]);
  });

  it("makes whoever wants it alone wait for a sharer that was admitted a moment ago", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [shared(orders)] }),
          candidate({ taskRunId: second, resources: [exclusive(orders)] }),
        ],
      }),
    );

    expect(idsOf(plan)).toEqual([first]);
    expect(plan.waiting.get(second)).toMatchObject({ because: "held", blockers: [first] });
  });

  it("makes a sharer wait behind one that waits to have it alone", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [exclusive(orders)] }),
          candidate({ taskRunId: second, resources: [shared(orders)] }),
        ],
        resources: { [orders]: { sharedHolders: [holder] } },
      }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(first)).toMatchObject({ because: "held", blockers: [holder] });
    expect(plan.waiting.get(second)).toMatchObject({ because: "line", blockers: [first] });
  });

  it("lets a sharer pass one that wants it alone but waits for something else", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [exclusive(orders)], runAt: later }),
          candidate({ taskRunId: second, resources: [shared(orders)] }),
        ],
        resources: { [orders]: { sharedHolders: [holder] } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });

  it("takes one out of the line as soon as it waits for something else", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [exclusive(orders)], runId: nightly }),
          candidate({ taskRunId: second, resources: [exclusive(orders)] }),
        ],
        resources: { [orders]: { line: [lineEntry({ taskRunId: first })] } },
        limits: { "run:nightly": { limit: 1, active: 1 } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
    expect(plan.waiting.get(first)).toMatchObject({ code: "RUN_LIMIT" });
  });

  it("takes one out of the line when it is admitted", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [shared(orders)] }),
          candidate({ taskRunId: second, resources: [shared(orders)] }),
        ],
        resources: { [orders]: { line: [lineEntry({ taskRunId: first, mode: "shared" })] } },
      }),
    );

    expect(idsOf(plan)).toEqual([first, second]);
  });

  it("lets nobody pass one that stands in line and was not looked at", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [candidate({ taskRunId: second, resources: [exclusive(orders)] })],
        resources: { [orders]: { line: [lineEntry({ taskRunId: first })] } },
      }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(second)).toMatchObject({ because: "line", blockers: [first] });
  });

  it("lets nobody pass into the part of a line that is out of sight", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [shared(orders)] }),
          candidate({ taskRunId: third, resources: [shared(orders)] }),
        ],
        resources: {
          [orders]: { line: [lineEntry({ taskRunId: first, mode: "shared" })], lineGoesOn: true },
        },
      }),
    );

    expect(idsOf(plan)).toEqual([first]);
    expect(plan.waiting.get(third)).toMatchObject({ because: "line", blockers: [] });
  });
});

describe("several resources", () => {
  it("takes all of them or none", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [candidate({ taskRunId: first, resources: [exclusive(users), exclusive(orders)] })],
        resources: { [orders]: { exclusiveHolder: holder } },
      }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(first)).toMatchObject({ resource: orders, blockers: [holder] });
  });

  it("takes each in its own mode", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [candidate({ taskRunId: first, resources: [exclusive(users), shared(orders)] })],
      }),
    );

    expect(plan.promote[0]?.resourceSlots).toEqual([
      { name: users, slot: 0, wasReserved: false },
      { name: orders, slot: 1, wasReserved: false },
    ]);
  });

  it("keeps a free resource for one ahead that waits for another one, so that it finds both free one day", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [exclusive(users), exclusive(orders)] }),
          candidate({ taskRunId: second, resources: [exclusive(users)] }),
        ],
        resources: { [orders]: { exclusiveHolder: holder } },
      }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(second)).toMatchObject({ resource: users, because: "line", blockers: [first] });
  });

  it("admits those that want different resources side by side", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, resources: [exclusive(users)] }),
          candidate({ taskRunId: second, resources: [exclusive(orders)] }),
        ],
      }),
    );

    expect(idsOf(plan)).toEqual([first, second]);
  });
});
