import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { asRunId } from "../ids.ts";
import { runLimit } from "./run-limit.ts";

const runId = asRunId("nightly");

it("is open while fewer than the limit are active", () => {
  const causes = runLimit(
    candidate({ runId }),
    gateView({ limits: { "run:nightly": { limit: 3, active: 2 } } }),
  );

  expect(causes).toEqual([]);
});

it("closes when as many as the limit are active, and names the run and both numbers", () => {
  const causes = runLimit(
    candidate({ runId }),
    gateView({ limits: { "run:nightly": { limit: 3, active: 3 } } }),
  );

  expect(causes).toEqual([{ code: "RUN_LIMIT", runId, limit: 3, active: 3 }]);
});

it("stays closed while more are active than a lowered limit allows", () => {
  const causes = runLimit(
    candidate({ runId }),
    gateView({ limits: { "run:nightly": { limit: 1, active: 4 } } }),
  );

  expect(causes).toEqual([{ code: "RUN_LIMIT", runId, limit: 1, active: 4 }]);
});

it("takes a limit of 0 as unlimited", () => {
  const causes = runLimit(
    candidate({ runId }),
    gateView({ limits: { "run:nightly": { limit: 0, active: 1_000 } } }),
  );

  expect(causes).toEqual([]);
});

it("is open for a task run that stands alone", () => {
  const causes = runLimit(candidate({ runId: null }), gateView());

  expect(causes).toEqual([]);
});
