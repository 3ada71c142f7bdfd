import { expect, it } from "vitest";
import { GATE_CODES } from "./gates/gates.ts";
import { asRunId, asTaskRunId } from "./ids.ts";
import { parkingOf, type WaitingCause, type WaitingCode } from "./waiting-cause.ts";

const blocker = asTaskRunId("blocker");
const causes: { readonly [Code in WaitingCode]: Extract<WaitingCause, { code: Code }> } = {
  RUN_AT: { code: "RUN_AT", runAt: new Date("2026-11-15T12:00:00.000Z") },
  VERSION_ORDER: {
    code: "VERSION_ORDER",
    resource: "prod/orders",
    version: "2",
    blocker,
    blockerVersion: "1",
  },
  RUN_LIMIT: { code: "RUN_LIMIT", runId: asRunId("nightly"), limit: 1, active: 1 },
  RESOURCE_BUSY: {
    code: "RESOURCE_BUSY",
    resource: "prod/users",
    mode: "shared",
    because: "held",
    blockers: [blocker],
    reservedFor: null,
  },
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

it("knows a parking place for every gate", () => {
  expect(GATE_CODES.map((code) => parkingOf(causes[code]).blockedOn)).toEqual(GATE_CODES);
});
