import { expect, it } from "vitest";
import { candidate, gateView, NOON } from "../../testing/builders.ts";
import { asRunId, asTaskRunId } from "../ids.ts";
import { exclusive } from "../resource.ts";
import type { GateCode } from "../waiting-cause.ts";
import type { Candidate } from "./gate.ts";
import { firstCause, GATE_CODES } from "./gates.ts";

const later = new Date("2026-11-15T12:00:01.000Z");
const nightly = asRunId("nightly");
const blockedEverywhere = candidate({
  taskRunId: asTaskRunId("blocked"),
  runId: nightly,
  runAt: later,
  version: "2",
  queue: "mail",
  concurrencyKey: "customer:7",
  rate: "sms",
  resources: [exclusive("prod/orders")],
});
const view = gateView({
  resources: {
    "prod/orders": {
      exclusiveHolder: asTaskRunId("holder"),
      lowestOpenVersion: { version: "1", taskRunId: asTaskRunId("older") },
      doneVersion: "3",
    },
  },
  limits: {
    "run:nightly": { limit: 1, active: 1 },
    "queue:mail": { limit: 1, active: 1 },
    "key:customer:7": { limit: 1, active: 1 },
  },
  rates: { sms: { freeSlots: [] } },
  available: new Map([[nightly, 100]]),
  pauses: new Map([["queue:mail", { since: NOON, by: null, reason: null }]]),
  stops: new Map([[blockedEverywhere.taskId, [{ code: "APPROVAL", detail: null, since: NOON }]]]),
  windows: new Map([["queue:mail", { kind: "closed", because: "freeze", opensAt: null }]]),
  servedKinds: new Set(["echo"]),
});

it("asks for the resources last, so that a resource's line holds only those that wait for nothing else", () => {
  expect(GATE_CODES.at(-1)).toBe("RESOURCE_BUSY");
});

it("asks first for what is said about the task itself, then for rules, then for capacity", () => {
  expect(GATE_CODES).toEqual([
    "RUN_AT",
    "STOPPED",
    "PAUSED",
    "NO_EXECUTOR",
    "WINDOW",
    "OUT_OF_ORDER",
    "VERSION_ORDER",
    "RUN_LIMIT",
    "QUEUE_LIMIT",
    "KEY_LIMIT",
    "FAIR_SHARE",
    "RATE_LIMIT",
    "RESOURCE_BUSY",
  ]);
});

it("parks a task run under the first gate that blocks it", () => {
  // Each step takes away what the gate before it asked about.
  const steps: readonly (readonly [GateCode, Partial<Candidate>, Partial<typeof view>])[] = [
    ["RUN_AT", {}, {}],
    ["STOPPED", { runAt: null }, {}],
    ["PAUSED", {}, { stops: () => [] }],
    ["NO_EXECUTOR", { kind: "sql" }, { pause: () => null }],
    ["WINDOW", { kind: "echo" }, {}],
    ["OUT_OF_ORDER", {}, { window: () => ({ kind: "open", until: null }) }],
    ["VERSION_ORDER", { outOfOrder: true }, {}],
    ["RUN_LIMIT", { version: null }, {}],
    ["QUEUE_LIMIT", {}, { limit: (scope) => ({ limit: scope === "run:nightly" ? 0 : 1, active: 1 }) }],
    [
      "KEY_LIMIT",
      { queue: "bulk" },
      { limit: (scope) => ({ limit: scope.startsWith("key:") ? 1 : 0, active: 1 }) },
    ],
    ["FAIR_SHARE", { concurrencyKey: null }, {}],
    ["RATE_LIMIT", { runId: null }, {}],
    ["RESOURCE_BUSY", { rate: null }, {}],
  ];
  let [asking, seen] = [blockedEverywhere, view];
  for (const [code, fields, facts] of steps) {
    asking = { ...asking, ...fields };
    seen = { ...seen, ...facts };

    expect(firstCause(asking, seen)?.code).toBe(code);
  }
});

it("finds no cause when every gate is open", () => {
  expect(firstCause(candidate(), view)).toBeNull();
});
