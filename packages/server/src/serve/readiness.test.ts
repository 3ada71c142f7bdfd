import type { HealthProblem } from "@signalbox/core";
import { expect, test } from "vitest";
import type { LoopState } from "../http/routes/probes.ts";
import { judgeReadiness } from "./readiness.ts";

const judge = (problems: readonly HealthProblem[], { leaving = false, promoter = "ok" as LoopState } = {}) =>
  judgeReadiness({ health: { problems }, loops: { promoter }, leaving });

test("a server is ready when its instance and its loops are", () => {
  expect(judge([])).toEqual({ ready: true, problems: [], loops: { promoter: "ok" } });
  expect(judge(["NO_LEASE"])).toMatchObject({ ready: false, problems: ["NO_LEASE"] });
  expect(judge([], { promoter: "failing" })).toMatchObject({ ready: false, loops: { promoter: "failing" } });
});

test("one that was asked to drain still answers, one that leaves does not", () => {
  expect(judge(["DRAINING"])).toMatchObject({ ready: true, problems: ["DRAINING"] });
  expect(judge(["DRAINING", "EVENT_LOOP_LAG"])).toMatchObject({ ready: false });
  expect(judge([], { leaving: true })).toMatchObject({ ready: false, problems: ["DRAINING"] });
  expect(judge(["DRAINING"], { leaving: true })).toMatchObject({ ready: false, problems: ["DRAINING"] });
});
