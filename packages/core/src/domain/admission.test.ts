import { describe, expect, it } from "vitest";
import { candidate, NOON, snapshot } from "../testing/builders.ts";
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
    const plan = planPromotions(snapshot({ candidates: members, limits: { "run:nightly": { limit: 2 } } }));

    expect(idsOf(plan)).toEqual([first, second]);
    expect(plan.waiting.get(third)).toEqual({ code: "RUN_LIMIT", runId: nightly, limit: 2, active: 2 });
  });

  it("hands out the free slots, lowest first", () => {
    const plan = planPromotions(
      snapshot({
        candidates: members,
        limits: { "run:nightly": { limit: 4, active: 2, freeSlots: [1, 3] } },
      }),
    );

    expect(plan.promote.map(({ limitSlots }) => limitSlots)).toEqual([
      [{ scope: "run:nightly", slot: 1 }],
      [{ scope: "run:nightly", slot: 3 }],
    ]);
  });

  it("admits nobody while more are active than a lowered limit allows, though low slots are free", () => {
    const plan = planPromotions(
      snapshot({
        candidates: members,
        limits: { "run:nightly": { limit: 2, active: 3, freeSlots: [0, 1] } },
      }),
    );

    expect(plan.promote).toEqual([]);
    expect(plan.waiting.get(first)).toMatchObject({ code: "RUN_LIMIT", limit: 2, active: 3 });
  });

  it("admits everybody of a run without a limit, each on a slot of its own", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, limits: { "run:nightly": { limit: 0, active: 5 } } }),
    );

    expect(plan.promote.flatMap(({ limitSlots }) => limitSlots.map(({ slot }) => slot))).toEqual([5, 6, 7]);
  });

  it("spends no slot on one that waits for a resource", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly, resources: [exclusive(orders)] }),
          candidate({ taskRunId: second, runId: nightly }),
        ],
        resources: { [orders]: { exclusiveHolder: holder } },
        limits: { "run:nightly": { limit: 1 } },
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
        limits: { "run:nightly": { limit: 1, active: 1 }, "run:weekly": { limit: 1 } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });
});

describe("queue and key slots", () => {
  const members = [first, second, third].map((taskRunId) =>
    candidate({ taskRunId, runId: nightly, queue: "mail", concurrencyKey: "customer:7" }),
  );

  it("takes a slot of the run, of the queue and of the key together", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, limits: { "queue:mail": { limit: 5, active: 2 } } }),
    );

    expect(plan.promote.map(({ limitSlots }) => limitSlots)).toEqual([
      [
        { scope: "run:nightly", slot: 0 },
        { scope: "queue:mail", slot: 2 },
        { scope: "key:customer:7", slot: 0 },
      ],
    ]);
    expect(plan.waiting.get(second)).toMatchObject({ code: "KEY_LIMIT", limit: 1, active: 1 });
  });

  it("takes nothing of a queue without a limit", () => {
    const plan = planPromotions(snapshot({ candidates: [candidate({ taskRunId: first, queue: "mail" })] }));

    expect(plan.promote.map(({ limitSlots }) => limitSlots)).toEqual([[]]);
  });

  it("admits up to the queue's limit, counting what it admitted itself", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [first, second, third].map((taskRunId) => candidate({ taskRunId, queue: "mail" })),
        limits: { "queue:mail": { limit: 2 } },
      }),
    );

    expect(idsOf(plan)).toEqual([first, second]);
    expect(plan.waiting.get(third)).toEqual({ code: "QUEUE_LIMIT", queue: "mail", limit: 2, active: 2 });
  });

  it("spends no slot of a queue on one that waits for its key", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, queue: "mail", concurrencyKey: "customer:7" }),
          candidate({ taskRunId: second, queue: "mail" }),
        ],
        limits: { "queue:mail": { limit: 1 }, "key:customer:7": { limit: 1, active: 1 } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });
});

describe("rate slots", () => {
  const members = [first, second, third].map((taskRunId) => candidate({ taskRunId, rate: "sms" }));

  it("hands out the free slots and keeps out whoever comes after", () => {
    const plan = planPromotions(
      snapshot({ candidates: members, rates: { sms: { amount: 5, perMs: 60_000, freeSlots: [1, 4] } } }),
    );

    expect(plan.promote.map(({ rateSlot }) => rateSlot)).toEqual([
      { rate: "sms", slot: 1 },
      { rate: "sms", slot: 4 },
    ]);
    expect(plan.waiting.get(third)).toEqual({
      code: "RATE_LIMIT",
      rate: "sms",
      amount: 5,
      perMs: 60_000,
      freeAt: null,
    });
  });

  it("spends no slot on one that waits for a resource", () => {
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, rate: "sms", resources: [exclusive(orders)] }),
          candidate({ taskRunId: second, rate: "sms" }),
        ],
        resources: { [orders]: { exclusiveHolder: holder } },
      }),
    );

    expect(idsOf(plan)).toEqual([second]);
  });
});

describe("the fair share of a run", () => {
  it("counts what is AVAILABLE already and what it admitted itself, each run by itself", () => {
    const weekly = asRunId("weekly");
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly }),
          candidate({ taskRunId: second, runId: nightly }),
          candidate({ taskRunId: third, runId: weekly }),
        ],
        available: new Map([[nightly, 2]]),
        fairShare: 3,
      }),
    );

    expect(idsOf(plan)).toEqual([first, third]);
    expect(plan.waiting.get(second)).toEqual({
      code: "FAIR_SHARE",
      runId: nightly,
      share: 3,
      available: 3,
    });
  });
});

describe("windows", () => {
  it("stamps the first instant at which a window of its queue or of a resource closes", () => {
    const [soon, late] = [new Date(NOON.getTime() + 1_000), new Date(NOON.getTime() + 9_000)];
    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, queue: "mail", resources: [exclusive(orders)] }),
          candidate({ taskRunId: second }),
        ],
        windows: new Map([
          ["queue:mail", { kind: "open", until: late }],
          [`resource:${orders}`, { kind: "open", until: soon }],
        ]),
      }),
    );

    expect(plan.promote.map(({ openUntil }) => openUntil)).toEqual([soon, null]);
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
      limits: new Map(),
    });

    expect(reasons(plan)).toEqual([[first, "Error: The snapshot lacks run:nightly"]]);
  });

  it("fails the candidate whose rate it lacks", () => {
    const plan = planPromotions({
      ...snapshot({ candidates: [candidate({ taskRunId: first, rate: "sms" })] }),
      rates: new Map(),
    });

    expect(reasons(plan)).toEqual([[first, 'Error: The snapshot lacks the rate "sms"']]);
  });

  it("fails the candidate for which it names no free slot, and gives the resource to the next", () => {
    const resources = [exclusive(orders)];

    const plan = planPromotions(
      snapshot({
        candidates: [
          candidate({ taskRunId: first, runId: nightly, resources }),
          candidate({ taskRunId: second, resources }),
        ],
        limits: { "run:nightly": { limit: 3, active: 1, freeSlots: [] } },
      }),
    );

    expect(reasons(plan)).toEqual([[first, "Error: The snapshot names too few free slots for 1st"]]);
    expect(idsOf(plan)).toEqual([second]);
  });
});
