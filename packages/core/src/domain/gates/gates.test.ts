import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { asRunId, asTaskRunId } from "../ids.ts";
import { exclusive } from "../resource.ts";
import { firstCause, GATE_CODES } from "./gates.ts";

const later = new Date("2026-11-15T12:00:01.000Z");
const blockedEverywhere = candidate({
  runId: asRunId("nightly"),
  runAt: later,
  version: "2",
  resources: [exclusive("prod/orders")],
});
const view = gateView({
  resources: {
    "prod/orders": {
      exclusiveHolder: asTaskRunId("holder"),
      lowestOpenVersion: { version: "1", taskRunId: asTaskRunId("older") },
    },
  },
  runs: { nightly: { limit: 1, active: 1 } },
});

it("asks for the resources last, so that a resource's line holds only those that wait for nothing else", () => {
  expect(GATE_CODES).toEqual(["RUN_AT", "VERSION_ORDER", "RUN_LIMIT", "RESOURCE_BUSY"]);
});

it("parks a task run under the first gate that blocks it", () => {
  expect(firstCause(blockedEverywhere, view)?.code).toBe("RUN_AT");
  expect(firstCause({ ...blockedEverywhere, runAt: null }, view)?.code).toBe("VERSION_ORDER");
  expect(firstCause({ ...blockedEverywhere, runAt: null, version: null }, view)?.code).toBe("RUN_LIMIT");
  expect(firstCause({ ...blockedEverywhere, runAt: null, version: null, runId: null }, view)?.code).toBe(
    "RESOURCE_BUSY",
  );
});

it("finds no cause when every gate is open", () => {
  expect(firstCause(candidate(), view)).toBeNull();
});
