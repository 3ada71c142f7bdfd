import type { InstanceView } from "@signalbox/contract";
import { expect, test } from "vitest";
import { stateOf } from "./state-of.ts";

const BEAT = Date.parse("2026-11-17T12:00:00Z");

test.each([
  ["LIVE", 1_000, 1_000, "live"],
  ["LIVE", 1_000, 5_000, "live"],
  ["LIVE", 3_000, 3_000, "late"],
  ["LIVE", 1_000, 8_000, "late"],
  ["DRAINING", 1_000, 1_000, "draining"],
  ["DEAD", 1_000, 1_000, "lost"],
] as const)("%s, read %d ms after its beat, %d ms ago by now, is %s", (state, readAfter, nowAfter, shown) => {
  const instance = {
    state,
    beatAt: new Date(BEAT).toISOString(),
    leaseUntil: new Date(BEAT + 5_000).toISOString(),
    leftAt: null,
  } as InstanceView;

  expect(stateOf(instance, BEAT + readAfter, BEAT + nowAfter)).toBe(shown);
});

test("one that left by itself was not lost", () => {
  const at = new Date(BEAT).toISOString();
  const instance = { state: "DEAD", beatAt: at, leaseUntil: at, leftAt: at } as InstanceView;

  expect(stateOf(instance, BEAT, BEAT)).toBe("left");
});
