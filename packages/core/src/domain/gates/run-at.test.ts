import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { runAt } from "./run-at.ts";

const now = new Date("2026-11-15T12:00:00.000Z");
const oneMsLater = new Date("2026-11-15T12:00:00.001Z");

it("keeps a task run waiting until its instant, and names the instant", () => {
  const causes = runAt(candidate({ runAt: oneMsLater }), gateView({ now }));

  expect(causes).toEqual([{ code: "RUN_AT", runAt: oneMsLater }]);
});

it("opens at the instant itself", () => {
  const causes = runAt(candidate({ runAt: now }), gateView({ now }));

  expect(causes).toEqual([]);
});

it("stays open after the instant", () => {
  const causes = runAt(candidate({ runAt: now }), gateView({ now: oneMsLater }));

  expect(causes).toEqual([]);
});

it("is open for a task run without an instant", () => {
  const causes = runAt(candidate({ runAt: null }), gateView({ now }));

  expect(causes).toEqual([]);
});
