import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { claimOf } from "../../test/claim-of.ts";
import type { Timeouts } from "../domain/settlement.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { ClaimedJob } from "../store/task-runs/claim.ts";
import { limitExecution, processTerms } from "./execution-limits.ts";
import { type HeldClaim, HeldClaims } from "./held-claims.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const JOB: ClaimedJob = { handle: "it", overdue: false, cancelRequested: false, ranMs: 0 };

function held(timeouts: Timeouts, job: ClaimedJob | null = null): HeldClaim {
  const claim = claimOf({ job });
  return new HeldClaims().add({ ...claim, policy: { ...claim.policy, timeouts } });
}

function toldBecause({ stop }: HeldClaim): string | null {
  return stop.because;
}

describe("an execution", () => {
  it("is told to stop when it has run for as long as it may", () => {
    const work = held({ runningMs: 100 });
    limitExecution(work);

    vi.advanceTimersByTime(99);
    expect(toldBecause(work)).toBeNull();
    vi.advanceTimersByTime(1);
    expect(toldBecause(work)).toBe("run_timeout");
  });

  it("is told to stop when it has made no progress for too long, counted from the last", () => {
    const work = held({ progressMs: 100 });
    const { progress } = limitExecution(work);

    vi.advanceTimersByTime(99);
    progress();
    vi.advanceTimersByTime(99);
    expect(toldBecause(work)).toBeNull();
    vi.advanceTimersByTime(1);
    vi.runOnlyPendingTimers();
    expect(toldBecause(work)).toBe("no_progress");
  });

  it("makes progress by what lies ready when its time is over: a blocked loop has not read it yet", () => {
    const work = held({ progressMs: 100 });
    const { progress } = limitExecution(work);

    vi.advanceTimersByTime(100);
    progress();
    vi.advanceTimersByTime(99);
    expect(toldBecause(work)).toBeNull();
    vi.advanceTimersByTime(1);
    vi.runOnlyPendingTimers();
    expect(toldBecause(work)).toBe("no_progress");
  });

  it("that has ended is told nothing any more", () => {
    const work = held({ runningMs: 100, progressMs: 100 });

    limitExecution(work).clear();

    vi.advanceTimersByTime(1_000);
    expect(toldBecause(work)).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("without timeouts goes on for ever", () => {
    const work = held({});
    limitExecution(work);

    expect(vi.getTimerCount()).toBe(0);
  });

  it("that asks after an outside job is not bound by what bounds the work itself, but by a time of its own", () => {
    const poll = held({ runningMs: 100, progressMs: 100 }, JOB);
    limitExecution(poll);

    vi.advanceTimersByTime(29_999);
    expect(toldBecause(poll)).toBeNull();
    vi.advanceTimersByTime(1);
    expect(toldBecause(poll)).toBe("run_timeout");
  });
});

describe("the processes of an execution", () => {
  const lease = { life: "one", leaseMs: 60_000, renewedAtMs: () => 0, reportTo: () => {} };
  const lender = { lease, emit: () => {} };

  it("end when it has run for as long as it may, with all the grace they ask for", () => {
    const { deadline } = processTerms(held({ runningMs: 100 }), lender, {
      obeyMs: Infinity,
      begunAtMs: monotonicMs(),
    });

    expect(deadline).toEqual({ atMs: expect.closeTo(monotonicMs() + 100, -2), maxGraceMs: Infinity });
  });

  it("end in a hurry when it is taken for stuck, where it may ignore its signal", () => {
    const { deadline } = processTerms(held({ runningMs: 100 }), lender, {
      obeyMs: 60_000,
      begunAtMs: monotonicMs(),
    });

    expect(deadline).toEqual({ atMs: expect.closeTo(monotonicMs() + 60_100, -2), maxGraceMs: 1_000 });
  });

  it("may go on for as long as it may itself, where nothing limits it", () => {
    expect(
      processTerms(held({ progressMs: 100 }), lender, { obeyMs: 5_000, begunAtMs: monotonicMs() }).deadline,
    ).toBeNull();
  });

  it("tell it to stop when they were ended: they may know why before the instance does", () => {
    const [late, lost, orphaned, canceled] = [held({}), held({}), held({}), held({})];

    processTerms(late, lender, { obeyMs: Infinity, begunAtMs: monotonicMs() }).onEnded("run_timeout");
    processTerms(lost, lender, { obeyMs: Infinity, begunAtMs: monotonicMs() }).onEnded("lease");
    processTerms(orphaned, lender, { obeyMs: Infinity, begunAtMs: monotonicMs() }).onEnded("warden_lost");
    canceled.stop.stop("cancel");
    processTerms(canceled, lender, { obeyMs: Infinity, begunAtMs: monotonicMs() }).onEnded("run_timeout");

    const told = [late, lost, orphaned, canceled].map(toldBecause);
    expect(told).toEqual(["run_timeout", "fence", "warden_lost", "cancel"]);
  });
});
