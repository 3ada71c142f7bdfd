import { describe, expect, test } from "vitest";
import { PLAIN_LOOK } from "../render/look.ts";
import { logLine, type SpokenEvent, saidBy } from "./event-line.ts";
import { createTakeovers } from "./takeovers.ts";

test("a line says when, who, what", () => {
  const at = new Date(2026, 10, 16, 12, 0, 5);
  const said = saidBy(claimed("first", 1), null);

  expect(said).not.toBeNull();
  expect(logLine({ at, who: "inst-b", verb: "", text: "", ...said }, PLAIN_LOOK)).toBe(
    "12:00:05  inst-b    claimed    orders add column  (attempt 1)",
  );
});

test("a failure says why, and when the next attempt comes", () => {
  const failed = event({
    type: "task_run.settled",
    ...named("first", 1),
    status: "FAILED",
    outcome: "ERROR",
    message: "deadlock detected",
    nextTaskRunId: "second",
    nextInMs: 1_500,
  });

  expect(saidBy(failed, null)?.text).toBe(
    "orders add column  (attempt 1): deadlock detected, attempt 2 in 1.5 s",
  );
});

describe("after a kill", () => {
  test("the log says who rescued what, and who took it over after how long", () => {
    const takeovers = createTakeovers();
    takeovers.struck("inst-b", "kill", 1_000);
    const lost = event({ type: "instance.lost", lostInstanceId: "b", lostName: "inst-b", silentMs: 3_640 });
    const rescued = event({
      type: "task_run.rescued",
      ...named("first", 1),
      fromInstanceId: "b",
      fromName: "inst-b",
      status: "FAILED",
      nextTaskRunId: "second",
    });
    const again = claimed("second", 2);

    const said = [lost, rescued, again].map((each, index) =>
      saidBy(each, takeovers.follow(each, 4_700 + index * 200)),
    );

    expect(said.map((line) => `${line?.verb} ${line?.text}`)).toEqual([
      "noticed inst-b was lost (silent 3.6 s)",
      'rescued "orders add column" from inst-b -> attempt 2',
      "took over orders add column  (attempt 2) from inst-b, 4.1 s after the kill",
    ]);
  });

  test("a claim is taken over once, and others are ordinary claims", () => {
    const takeovers = createTakeovers();

    expect(takeovers.follow(claimed("other", 1), 0)).toBeNull();
  });
});

function claimed(taskRunId: string, attempt: number): SpokenEvent {
  return event({ type: "task_run.claimed", ...named(taskRunId, attempt), claimNo: 7 });
}

function named(taskRunId: string, attempt: number) {
  return { taskRunId, taskId: "task", title: "orders add column", attempt };
}

// Ids are branded; here they are words.
function event(facts: { readonly type: SpokenEvent["type"] } & Record<string, unknown>): SpokenEvent {
  return facts as unknown as SpokenEvent;
}
