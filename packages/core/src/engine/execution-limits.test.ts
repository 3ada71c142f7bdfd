import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { asTaskId, asTaskRunId } from "../domain/ids.ts";
import type { Timeouts } from "../domain/settlement.ts";
import { ExecutionStoppedError } from "../executors/executor.ts";
import type { ClaimedJob } from "../store/task-runs/claim.ts";
import { limitExecution } from "./execution-limits.ts";
import { type HeldClaim, HeldClaims } from "./held-claims.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const JOB: ClaimedJob = { handle: "it", overdue: false, cancelRequested: false, ranMs: 0 };

function held(timeouts: Timeouts, job: ClaimedJob | null = null): HeldClaim {
  return new HeldClaims().add({
    taskRunId: asTaskRunId("1st"),
    taskId: asTaskId("1"),
    runId: null,
    kind: "work",
    queue: "default",
    title: "work",
    attempt: 1,
    interruptions: 0,
    deferrals: 0,
    gated: false,
    claimNo: 1,
    input: null,
    policy: { attempts: 1, backoff: { firstMs: 0, factor: 1, maxMs: 0 }, onLost: "retry", timeouts },
    waitedMs: 0,
    availableMs: 0,
    job,
  });
}

function toldBecause({ stop }: HeldClaim): string | null {
  return stop.signal.reason instanceof ExecutionStoppedError ? stop.signal.reason.because : null;
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
