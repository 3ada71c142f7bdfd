import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { candidate, gateView, lineEntry, type SnapshotFields, snapshot } from "../testing/builders.ts";
import { Admission } from "./admission.ts";
import { judge, namedIn } from "./explanation.ts";
import { GATE_CODES } from "./gates/gates.ts";
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
  queue: "mail",
  concurrencyKey: "customer:7",
  rate: "sms",
  runAt: earlier,
  version: "2",
  enqueuedUs: 1_000 * earlier.getTime() - 5_000_000,
  resources: [exclusive("prod/orders"), shared("prod/users")],
});
/** Everything that a gate can be about is there, and nothing of it blocks. */
const allOpen: SnapshotFields = {
  limits: { "queue:mail": { limit: 5 } },
  windows: new Map([["resource:prod/users", { kind: "open", until: later }]]),
};

function states(verdicts: ReturnType<typeof judge>): Record<string, string> {
  return Object.fromEntries(verdicts.map(({ code, state }) => [code, state]));
}

describe("the verdict on a task run", () => {
  it("names every gate, in the order in which they park", () => {
    const verdicts = judge({ ...candidate(), runAt: later }, gateView());

    expect(verdicts.map(({ code }) => code)).toEqual(GATE_CODES);
  });

  it("tells a gate that it does not concern from one that it has passed", () => {
    expect(states(judge(candidate(), gateView()))).toEqual({
      RUN_AT: "not_applicable",
      STOPPED: "not_applicable",
      // Its queue can always be paused, and somebody must always be able to run it.
      PAUSED: "passed",
      NO_EXECUTOR: "passed",
      WINDOW: "not_applicable",
      OUT_OF_ORDER: "not_applicable",
      VERSION_ORDER: "not_applicable",
      RUN_LIMIT: "not_applicable",
      QUEUE_LIMIT: "not_applicable",
      KEY_LIMIT: "not_applicable",
      FAIR_SHARE: "not_applicable",
      RATE_LIMIT: "not_applicable",
      RESOURCE_BUSY: "not_applicable",
      NOT_EVALUATED: "blocking",
    });
    expect(states(judge(concernsAll, gateView(allOpen)))).toEqual({
      RUN_AT: "passed",
      // A stop that was taken off leaves nothing behind that could be called passed.
      STOPPED: "not_applicable",
      PAUSED: "passed",
      NO_EXECUTOR: "passed",
      WINDOW: "passed",
      OUT_OF_ORDER: "passed",
      VERSION_ORDER: "passed",
      RUN_LIMIT: "passed",
      QUEUE_LIMIT: "passed",
      KEY_LIMIT: "passed",
      FAIR_SHARE: "passed",
      RATE_LIMIT: "passed",
      RESOURCE_BUSY: "passed",
      NOT_EVALUATED: "blocking",
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
            doneVersion: "3",
          },
          "prod/users": { line: [lineEntry({ taskRunId: ahead })] },
        },
        limits: {
          "run:nightly": { limit: 1, active: 1 },
          "queue:mail": { limit: 2, active: 3 },
          "key:customer:7": { limit: 1, active: 1 },
        },
        rates: { sms: { amount: 1, perMs: 1_000, freeSlots: [], nextFreeAt: later } },
        available: new Map([[nightly, 20]]),
        fairShare: 20,
        stops: new Map([
          [
            concernsAll.taskId,
            [
              { code: "APPROVAL", detail: "by two", since: earlier },
              { code: "STAGE_ORDER", detail: null, since: earlier },
            ],
          ],
        ]),
        pauses: new Map([
          ["queue:mail", { since: earlier, by: "eva", reason: "flood" }],
          ["run:nightly", { since: earlier, by: null, reason: null }],
          ["resource:prod/users", { since: earlier, by: null, reason: null }],
          ["resource:elsewhere", { since: earlier, by: null, reason: null }],
        ]),
        windows: new Map([
          ["queue:mail", { kind: "closed", because: "freeze", opensAt: later }],
          ["resource:prod/orders", { kind: "closed", because: "maintenance", opensAt: null }],
        ]),
        servedKinds: new Set(["sql"]),
      }),
    );

    expect(verdicts).toMatchObject([
      { code: "RUN_AT", state: "blocking", causes: [{ runAt: later }] },
      {
        code: "STOPPED",
        state: "blocking",
        causes: [{ stop: "APPROVAL", detail: "by two" }, { stop: "STAGE_ORDER" }],
      },
      {
        code: "PAUSED",
        state: "blocking",
        causes: [
          { scope: "queue:mail", by: "eva", reason: "flood" },
          { scope: "run:nightly" },
          { scope: "resource:prod/users" },
        ],
      },
      { code: "NO_EXECUTOR", state: "blocking", causes: [{ kind: "echo" }] },
      {
        code: "WINDOW",
        state: "blocking",
        causes: [
          { scope: "queue:mail", window: "freeze", opensAt: later },
          { scope: "resource:prod/orders", window: "maintenance", opensAt: null },
        ],
      },
      { code: "OUT_OF_ORDER", state: "blocking", causes: [{ resource: "prod/orders", doneVersion: "3" }] },
      { code: "VERSION_ORDER", state: "blocking", causes: [{ resource: "prod/orders", blocker: older }] },
      { code: "RUN_LIMIT", state: "blocking", causes: [{ runId: nightly, limit: 1, active: 1 }] },
      { code: "QUEUE_LIMIT", state: "blocking", causes: [{ queue: "mail", limit: 2, active: 3 }] },
      { code: "KEY_LIMIT", state: "blocking", causes: [{ concurrencyKey: "customer:7", limit: 1 }] },
      { code: "FAIR_SHARE", state: "blocking", causes: [{ runId: nightly, share: 20, available: 20 }] },
      { code: "RATE_LIMIT", state: "blocking", causes: [{ rate: "sms", freeAt: later }] },
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
    const verdicts = judge(
      concernsAll,
      gateView({ ...allOpen, limits: { ...allOpen.limits, "run:nightly": { limit: 1, active: 1 } } }),
    );

    const { RUN_LIMIT, STOPPED, ...others } = states(verdicts);
    expect(RUN_LIMIT).toBe("blocking");
    expect(STOPPED).toBe("not_applicable");
    expect(new Set(Object.values(others))).toEqual(new Set(["passed"]));
    expect(verdicts.filter(({ state }) => state !== "blocking").flatMap(({ causes }) => causes)).toEqual([]);
  });

  // Where no gate closes it, only a pass is missing: staleness is a cause of its own.
  it("says NOT_EVALUATED where every gate is open, since it came", () => {
    const enqueuedAt = new Date(concernsAll.enqueuedUs / 1_000);

    const verdicts = judge({ ...concernsAll, runAt: null }, gateView(allOpen));

    expect(verdicts.at(-1)).toEqual({
      code: "NOT_EVALUATED",
      state: "blocking",
      causes: [{ code: "NOT_EVALUATED", since: enqueuedAt }],
    });
  });

  it("counts NOT_EVALUATED from the run time where that came later", () => {
    expect(judge(concernsAll, gateView(allOpen)).at(-1)?.causes).toEqual([
      { code: "NOT_EVALUATED", since: earlier },
    ]);
  });

  it("leaves NOT_EVALUATED out where a gate blocks", () => {
    expect(states(judge({ ...concernsAll, runAt: later }, gateView(allOpen)))).not.toHaveProperty(
      "NOT_EVALUATED",
    );
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
    doneVersion: fc.constantFrom(null, null, "1", "3"),
    lowestOpenVersion: fc.option(
      fc.record({ version: fc.constantFrom("1", "2"), taskRunId: fc.constant(older) }),
    ),
  });
  const maybe = <Key, Value>(key: Key, value: Value): fc.Arbitrary<ReadonlyMap<Key, Value>> =>
    fc.nat(3).map((n) => new Map(n === 0 ? [[key, value]] : []));
  const facts = fc.record({
    resources: fc.record({ "prod/orders": resource, "prod/users": resource }),
    limits: fc.record({
      "run:nightly": fc.record({ limit: fc.nat(2), active: fc.nat(2) }),
      "queue:mail": fc.record({ limit: fc.nat(2), active: fc.nat(2) }),
      "key:customer:7": fc.record({ limit: fc.integer({ min: 1, max: 2 }), active: fc.nat(2) }),
    }),
    rates: fc.record({ sms: fc.record({ freeSlots: fc.constantFrom([], [0]) }) }),
    available: fc.nat(2).map((available) => new Map([[nightly, available]])),
    fairShare: fc.constantFrom(1, 2, 100),
    pauses: maybe("queue:mail" as const, { since: earlier, by: null, reason: null }),
    stops: maybe(concernsAll.taskId, [{ code: "APPROVAL", detail: null, since: earlier }]),
    windows: maybe("queue:mail" as const, {
      kind: "closed" as const,
      because: "freeze" as const,
      opensAt: null,
    }),
    servedKinds: fc.constantFrom(new Set(["echo"]), new Set(["echo", "sql"]), new Set<string>()),
  });
  const one = fc.record({
    runId: fc.constantFrom(null, nightly),
    queue: fc.constantFrom("default", "mail"),
    concurrencyKey: fc.constantFrom(null, "customer:7"),
    rate: fc.constantFrom(null, "sms"),
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

        const read = snapshot({ ...seen, candidates: [asking] });

        const plan = planPromotions(read);

        const verdicts = judge(asking, new Admission(read));
        const [cause] = verdicts.flatMap((verdict) => verdict.causes);
        // No gate closes it: then all that is missing is the pass, which admits it.
        const isOpen = cause?.code === "NOT_EVALUATED";
        expect(plan.promote.map(({ taskRunId }) => taskRunId)).toEqual(isOpen ? [asking.taskRunId] : []);
        expect(plan.waiting.get(asking.taskRunId)).toEqual(isOpen ? undefined : cause);
      }),
      { numRuns: 500 },
    );
  });
});
