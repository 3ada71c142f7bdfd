import { expect, it } from "vitest";
import { GATE_CODES } from "./gates/gates.ts";
import { asRunId, asTaskId, asTaskRunId } from "./ids.ts";
import { parkingOf, type WaitingCause, type WaitingCode } from "./waiting-cause.ts";

const blocker = asTaskRunId("blocker");
const taskId = asTaskId("task");
const since = new Date("2026-11-15T11:00:00.000Z");
const causes: { readonly [Code in WaitingCode]: Extract<WaitingCause, { code: Code }> } = {
  RUN_AT: { code: "RUN_AT", runAt: new Date("2026-11-15T12:00:00.000Z") },
  STOPPED: { code: "STOPPED", taskId, stop: "APPROVAL", detail: null, since },
  PAUSED: { code: "PAUSED", scope: "queue:mail", since, by: null, reason: null },
  NO_EXECUTOR: { code: "NO_EXECUTOR", kind: "echo" },
  WINDOW: { code: "WINDOW", scope: "resource:prod/orders", window: "freeze", opensAt: null },
  OUT_OF_ORDER: { code: "OUT_OF_ORDER", resource: "prod/orders", version: "1", doneVersion: "2" },
  VERSION_ORDER: {
    code: "VERSION_ORDER",
    resource: "prod/orders",
    version: "2",
    blocker,
    blockerVersion: "1",
  },
  RUN_LIMIT: { code: "RUN_LIMIT", runId: asRunId("nightly"), limit: 1, active: 1 },
  QUEUE_LIMIT: { code: "QUEUE_LIMIT", queue: "mail", limit: 1, active: 1 },
  KEY_LIMIT: { code: "KEY_LIMIT", concurrencyKey: "customer:7", limit: 1, active: 1 },
  RATE_LIMIT: { code: "RATE_LIMIT", rate: "sms", amount: 1, perMs: 1_000, freeAt: null },
  FAIR_SHARE: { code: "FAIR_SHARE", runId: asRunId("nightly"), share: 20, available: 20 },
  RESOURCE_BUSY: {
    code: "RESOURCE_BUSY",
    resource: "prod/users",
    mode: "shared",
    because: "held",
    blockers: [blocker],
    reservedFor: null,
  },
  NOT_EVALUATED: { code: "NOT_EVALUATED", since },
};

it("parks a task run that waits for its instant under no key: time wakes it", () => {
  expect(parkingOf(causes.RUN_AT)).toEqual({ blockedOn: "RUN_AT", blockedKey: "" });
});

it("parks a task run that waits for a smaller version under the resource", () => {
  expect(parkingOf(causes.VERSION_ORDER)).toEqual({ blockedOn: "VERSION_ORDER", blockedKey: "prod/orders" });
});

it("parks a task run that waits for its run's limit under the run", () => {
  expect(parkingOf(causes.RUN_LIMIT)).toEqual({ blockedOn: "RUN_LIMIT", blockedKey: "nightly" });
});

it("parks a task run that waits for a resource under the resource", () => {
  expect(parkingOf(causes.RESOURCE_BUSY)).toEqual({ blockedOn: "RESOURCE_BUSY", blockedKey: "prod/users" });
});

it.each([
  ["STOPPED", taskId],
  ["PAUSED", "queue:mail"],
  ["NO_EXECUTOR", "echo"],
  ["WINDOW", "resource:prod/orders"],
  ["QUEUE_LIMIT", "mail"],
  ["KEY_LIMIT", "customer:7"],
  ["RATE_LIMIT", "sms"],
  ["FAIR_SHARE", "nightly"],
] as const)("parks a task run that waits at %s under %s, whatever else the cause says", (code, key) => {
  expect(parkingOf(causes[code])).toEqual({ blockedOn: code, blockedKey: key });
});

it("knows a parking place for every gate", () => {
  expect(GATE_CODES.map((code) => parkingOf(causes[code]).blockedOn)).toEqual(GATE_CODES);
});
