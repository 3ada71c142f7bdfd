import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { candidate, gateView, lineEntry, snapshot } from "../testing/builders.ts";
import { judge, namedIn } from "./explanation.ts";
import { asRunId, asTaskId, asTaskRunId } from "./ids.ts";
import { planPromotions } from "./promotion.ts";
import { exclusive, shared } from "./resource.ts";
import type { WaitingCause } from "./waiting-cause.ts";

const nightly = asRunId("nightly");
const holder = asTaskRunId("holder");
const older = asTaskRunId("older");
const ahead = asTaskRunId("1st");
const later = new Date("2026-11-15T12:00:01.000Z");
const earlier = new Date("2026-11-15T11:59:59.000Z");
const concernsAll = candidate({
  taskRunId: asTaskRunId("2nd"),
  runId: nightly,
  runAt: earlier,
  version: "2",
  resources: [exclusive("prod/orders"), shared("prod/users")],
});

function states(verdicts: ReturnType<typeof judge>): Record<string, string> {
  return Object.fromEntries(verdicts.map(({ code, state }) => [code, state]));
}

describe("the verdict on a task run", () => {
  it("names every gate, in the order in which they park", () => {
    const verdicts = judge(candidate(), gateView());

    expect(verdicts.map(({ code }) => code)).toEqual([
      "RUN_AT",
      "VERSION_ORDER",
      "RUN_LIMIT",
      "RESOURCE_BUSY",
    ]);
  });

  it("tells a gate that it does not concern from one that it has passed", () => {
    expect(states(judge(candidate(), gateView()))).toEqual({
      RUN_AT: "not_applicable",
      VERSION_ORDER: "not_applicable",
      RUN_LIMIT: "not_applicable",
      RESOURCE_BUSY: "not_applicable",
    });
    expect(states(judge(concernsAll, gateView()))).toEqual({
      RUN_AT: "passed",
      VERSION_ORDER: "passed",
      RUN_LIMIT: "passed",
      RESOURCE_BUSY: "passed",
    });
  });

  it("gives every gate that blocks with its causes, not only the first one", () => {
    const verdicts = judge(
      { ...concernsAll, runAt: later },
      gateView({
        resources: {
          "prod/orders": {
            exclusiveHolder: holder,
            lowestOpenVersion: { version: "1", taskRunId: older },
          },
          "prod/users": { line: [lineEntry({ taskRunId: ahead })] },
        },
        runs: { nightly: { limit: 1, active: 1 } },
      }),
    );

    expect(verdicts).toMatchObject([
      { code: "RUN_AT", state: "blocking", causes: [{ runAt: later }] },
      { code: "VERSION_ORDER", state: "blocking", causes: [{ resource: "prod/orders", blocker: older }] },
      { code: "RUN_LIMIT", state: "blocking", causes: [{ runId: nightly, limit: 1, active: 1 }] },
      {
        code: "RESOURCE_BUSY",
        state: "blocking",
        causes: [
          { resource: "prod/orders", because: "held", blockers: [holder] },
          { resource: "prod/users", because: "line", blockers: [ahead] },
        ],
      },
    ]);
  });

  it("tells a blocking gate from a passed one beside it", () => {
    const verdicts = judge(concernsAll, gateView({ runs: { nightly: { limit: 1, active: 1 } } }));

    expect(states(verdicts)).toEqual({
      RUN_AT: "passed",
      VERSION_ORDER: "passed",
      RUN_LIMIT: "blocking",
      RESOURCE_BUSY: "passed",
    });
    expect(verdicts.filter(({ state }) => state !== "blocking").flatMap(({ causes }) => causes)).toEqual([]);
  });
});

describe("a set of causes", () => {
  const causes: readonly WaitingCause[] = [
    { code: "RUN_AT", runAt: later },
    { code: "VERSION_ORDER", resource: "prod/orders", version: "2", blocker: older, blockerVersion: "1" },
    { code: "RUN_LIMIT", runId: nightly, limit: 1, active: 1 },
    {
      code: "RESOURCE_BUSY",
      resource: "prod/users",
      mode: "exclusive",
      because: "held",
      blockers: [holder, ahead],
      reservedFor: null,
    },
  ];

  it("names everyone who stands in the way", () => {
    expect(namedIn(causes)).toEqual([older, holder, ahead]);
  });

  it("names nobody when it is empty", () => {
    expect(namedIn([])).toEqual([]);
  });
});

describe("the explanation and the promotion", () => {
  const elsewhere = asTaskId("elsewhere");
  const entry = fc.record({
    taskRunId: fc.constantFrom(ahead, concernsAll.taskRunId, asTaskRunId("3rd")),
    mode: fc.constantFrom("exclusive", "shared"),
  });
  const resource = fc.record({
    exclusiveHolder: fc.option(fc.constant(holder), { freq: 2 }),
    reservedFor: fc.option(fc.constantFrom(concernsAll.taskId, elsewhere), { freq: 2 }),
    sharedHolders: fc.constantFrom([], [holder]),
    line: fc.array(entry.map(lineEntry), { maxLength: 2 }),
    lineGoesOn: fc.boolean(),
    lowestOpenVersion: fc.option(
      fc.record({ version: fc.constantFrom("1", "2"), taskRunId: fc.constant(older) }),
    ),
  });
  const facts = fc.record({
    resources: fc.record({ "prod/orders": resource, "prod/users": resource }),
    runs: fc.record({ nightly: fc.record({ limit: fc.nat(2), active: fc.nat(2) }) }),
  });
  const one = fc.record({
    runId: fc.constantFrom(null, nightly),
    runAt: fc.constantFrom(null, earlier, earlier, later),
    version: fc.constantFrom(null, "2"),
    resources: fc.constantFrom(
      [],
      [exclusive("prod/orders")],
      [shared("prod/orders")],
      [exclusive("prod/orders"), shared("prod/users")],
    ),
  });

  it("agree: one that stands alone is admitted exactly when nothing is found in its way", () => {
    fc.assert(
      fc.property(one, facts, (fields, seen) => {
        const asking = { ...concernsAll, ...fields };

        const plan = planPromotions(snapshot({ ...seen, candidates: [asking] }));

        const verdicts = judge(asking, gateView(seen));
        const causes = verdicts.flatMap((verdict) => verdict.causes);
        expect(plan.promote.map(({ taskRunId }) => taskRunId)).toEqual(
          verdicts.some(({ state }) => state === "blocking") ? [] : [asking.taskRunId],
        );
        expect(plan.waiting.get(asking.taskRunId)).toEqual(causes[0]);
      }),
      { numRuns: 200 },
    );
  });
});
