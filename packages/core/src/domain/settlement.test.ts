import { describe, expect, it } from "vitest";
import {
  decide,
  type Ending,
  MAX_DEFERRALS,
  MAX_INTERRUPTIONS,
  type Outcome,
  type RetryPolicy,
  settle,
} from "./settlement.ts";

const policy: RetryPolicy = {
  attempts: 3,
  backoff: { firstMs: 1_000, factor: 2, maxMs: 60_000 },
  onLost: "retry",
};
const firstAttempt = { attempt: 1, interruptions: 0 };
const failed: Ending = { kind: "failed", code: "HANDLER_ERROR", message: "no such table", retryable: true };
const lost: Ending = { kind: "instance_lost", code: "LEASE_LOST", instanceName: "app-3" };
const shutDown: Ending = { kind: "instance_lost", code: "SHUTDOWN", instanceName: "app-3" };

describe("a success", () => {
  it("makes a task run DONE with its output, and no attempt follows", () => {
    const settlement = settle({ kind: "succeeded", output: { rows: 3 } }, policy, firstAttempt, 0);

    expect(settlement).toEqual({
      status: "DONE",
      outcome: "SUCCEEDED",
      output: { rows: 3 },
      error: null,
      nextAttempt: null,
    });
  });
});

describe("an execution that was told to stop", () => {
  it("makes a task run CANCELED, and no attempt follows", () => {
    const settlement = settle({ kind: "stopped" }, policy, firstAttempt, 0);

    expect(settlement).toEqual({
      status: "CANCELED",
      outcome: "CANCELED",
      output: null,
      error: null,
      nextAttempt: null,
    });
  });
});

describe("a failure", () => {
  it("makes a task run FAILED with its code and message", () => {
    const settlement = settle(failed, policy, firstAttempt, 0);

    expect(settlement).toMatchObject({
      status: "FAILED",
      outcome: "HANDLER_ERROR",
      output: null,
      error: { code: "HANDLER_ERROR", message: "no such table" },
    });
  });

  it("is followed by another attempt after the backoff, and lets go of its resources", () => {
    const settlement = settle(failed, policy, { attempt: 2, interruptions: 0 }, 0.5);

    expect(settlement.nextAttempt).toEqual({ delayMs: 1_500, interruptions: 0, keepsExclusiveHolds: false });
  });

  it("is the end when the attempts are spent", () => {
    expect(settle(failed, policy, { attempt: 2, interruptions: 0 }, 0).nextAttempt).not.toBeNull();
    expect(settle(failed, policy, { attempt: 3, interruptions: 0 }, 0).nextAttempt).toBeNull();
  });

  it("is the end when another attempt would fail in the same way", () => {
    const settlement = settle({ ...failed, retryable: false }, policy, firstAttempt, 0);

    expect(settlement.nextAttempt).toBeNull();
  });

  it("does not count the attempts that ended with their instance, neither in number nor in delay", () => {
    const settlement = settle(failed, policy, { attempt: 4, interruptions: 2 }, 0);

    expect(settlement.nextAttempt).toMatchObject({ delayMs: 1_000, interruptions: 2 });
    expect(settle(failed, policy, { attempt: 5, interruptions: 2 }, 0).nextAttempt).toBeNull();
  });
});

describe("a lost instance", () => {
  it("makes a task run FAILED, and says whose lease ran out", () => {
    const settlement = settle(lost, policy, firstAttempt, 0);

    expect(settlement).toMatchObject({
      status: "FAILED",
      outcome: "LEASE_LOST",
      output: null,
      error: { code: "LEASE_LOST", message: "The lease of app-3 ran out while it ran this" },
    });
  });

  it("is followed by another attempt at once, for which the resources held alone are kept", () => {
    const settlement = settle(lost, policy, firstAttempt, 0.9);

    expect(settlement.nextAttempt).toEqual({ delayMs: 0, interruptions: 1, keepsExclusiveHolds: true });
  });

  it("does not spend an attempt", () => {
    const settlement = settle(lost, { ...policy, attempts: 1 }, firstAttempt, 0);

    expect(settlement.nextAttempt).not.toBeNull();
  });

  it("is forgiven three times, and then taken for the task's own doing", () => {
    const third = settle(lost, policy, { attempt: 3, interruptions: 2 }, 0);
    const fourth = settle(lost, policy, { attempt: 4, interruptions: 3 }, 0);

    expect(MAX_INTERRUPTIONS).toBe(3);
    expect(third.nextAttempt?.interruptions).toBe(3);
    expect(fourth).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS", nextAttempt: null });
    expect(fourth.error?.code).toBe("TOO_MANY_INTERRUPTIONS");
  });

  it("is the end for a task that must not be repeated by guess, and stays LEASE_LOST", () => {
    for (const count of [firstAttempt, { attempt: 4, interruptions: 3 }]) {
      const settlement = settle(lost, { ...policy, onLost: "fail" }, count, 0);

      expect(settlement).toMatchObject({ status: "FAILED", outcome: "LEASE_LOST", nextAttempt: null });
    }
  });
});

describe("an instance that was shut down", () => {
  it("makes a task run FAILED, and says which one it was", () => {
    const settlement = settle(shutDown, policy, firstAttempt, 0);

    expect(settlement).toMatchObject({
      status: "FAILED",
      outcome: "SHUTDOWN",
      error: { code: "SHUTDOWN", message: "app-3 was shut down while it ran this" },
    });
  });

  it("is followed by another attempt at once, and lets go of its resources, because the work has surely ended", () => {
    const settlement = settle(shutDown, policy, firstAttempt, 0.9);

    expect(settlement.nextAttempt).toEqual({ delayMs: 0, interruptions: 1, keepsExclusiveHolds: false });
  });

  it("counts as an interruption like a lost one", () => {
    const settlement = settle(shutDown, policy, { attempt: 4, interruptions: 3 }, 0);

    expect(settlement).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS", nextAttempt: null });
  });

  it("is the end for a task that must not be repeated by guess, and stays SHUTDOWN", () => {
    const settlement = settle(shutDown, { ...policy, onLost: "fail" }, firstAttempt, 0);

    expect(settlement).toMatchObject({ outcome: "SHUTDOWN", nextAttempt: null });
  });
});

describe("a lost warden", () => {
  const wardenLost: Ending = { kind: "instance_lost", code: "WARDEN_LOST", instanceName: "app-3" };

  it("spends no attempt: another one follows at once, for which the resources held alone are kept", () => {
    const settlement = settle(wardenLost, { ...policy, attempts: 1 }, firstAttempt, 0.9);

    expect(settlement).toMatchObject({ status: "FAILED", outcome: "WARDEN_LOST" });
    expect(settlement.error?.message).toMatch(/^The warden of app-3 was lost while it ran this/);
    expect(settlement.nextAttempt).toEqual({ delayMs: 0, interruptions: 1, keepsExclusiveHolds: true });
  });

  it("is the end for a task that must not be repeated by guess, and after three interruptions for every task", () => {
    const often = { attempt: 4, interruptions: MAX_INTERRUPTIONS };

    expect(settle(wardenLost, { ...policy, onLost: "fail" }, firstAttempt, 0)).toMatchObject({
      outcome: "WARDEN_LOST",
      nextAttempt: null,
    });
    expect(settle(wardenLost, policy, often, 0)).toMatchObject({
      outcome: "TOO_MANY_INTERRUPTIONS",
      nextAttempt: null,
    });
  });
});

describe("an error that says when", () => {
  it("is tried again then, instead of when the backoff says, while attempts are left", () => {
    const later = { ...failed, retryInMs: 90_000 };

    expect(settle(later, policy, firstAttempt, 0).nextAttempt).toMatchObject({ delayMs: 90_000 });
    expect(settle(later, policy, { attempt: 3, interruptions: 0 }, 0).nextAttempt).toBeNull();
  });
});

describe("an execution that ignores its signal", () => {
  const stuck: Ending = { kind: "stuck", message: "still there", interrupted: false };

  it("spends an attempt, and what it held alone is kept for the next", () => {
    expect(settle(stuck, policy, firstAttempt, 0)).toMatchObject({
      status: "FAILED",
      outcome: "HANDLER_STUCK",
      nextAttempt: { interruptions: 0, keepsExclusiveHolds: true },
    });
    expect(settle(stuck, { ...policy, attempts: 1 }, firstAttempt, 0).nextAttempt).toBeNull();
  });

  it("at a shutdown follows the policy for a lost instance", () => {
    const atShutdown: Ending = { ...stuck, interrupted: true };

    expect(settle(atShutdown, { ...policy, attempts: 1 }, firstAttempt, 0)).toMatchObject({
      outcome: "HANDLER_STUCK",
      nextAttempt: { delayMs: 0, interruptions: 1, keepsExclusiveHolds: true },
    });
    expect(settle(atShutdown, { ...policy, onLost: "fail" }, firstAttempt, 0).nextAttempt).toBeNull();
  });
});

describe("resume without anything to resume from", () => {
  it("is retry", () => {
    const resume: RetryPolicy = { ...policy, onLost: "resume" };
    const often = { attempt: 4, interruptions: MAX_INTERRUPTIONS };

    expect(settle(lost, resume, firstAttempt, 0)).toEqual(settle(lost, policy, firstAttempt, 0));
    expect(settle(lost, resume, often, 0)).toEqual(settle(lost, policy, often, 0));
  });
});

describe("what goes on as the same task run", () => {
  const ways: readonly Outcome[] = [
    { kind: "deferred", delayMs: 5, reason: null },
    { kind: "let_go", handle: "job-1", pollInMs: 1, deadlineInMs: 2 },
    { kind: "poll_again", pollInMs: 1, answered: true, problem: null },
  ];

  it.each(ways)("$kind ends nothing", (outcome) => {
    expect(decide(outcome, policy, { ...firstAttempt, deferrals: MAX_DEFERRALS - 1 }, 0)).toBe(outcome);
  });

  it("asks for a later time only so often", () => {
    const [deferral] = ways;
    if (deferral === undefined) throw new Error("unreachable");

    expect(decide(deferral, policy, { ...firstAttempt, deferrals: MAX_DEFERRALS }, 0)).toMatchObject({
      kind: "end",
      settlement: { status: "FAILED", outcome: "TOO_MANY_DEFERRALS", nextAttempt: null },
    });
  });
});
