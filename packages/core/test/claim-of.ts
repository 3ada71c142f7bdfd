import { asTaskId, asTaskRunId } from "../src/domain/ids.ts";
import type { Claim } from "../src/store/task-runs/claim.ts";

/** A claim as a statement would answer it, of one and the same task run. */
export function claimOf(parts: Partial<Claim> = {}): Claim {
  return {
    taskRunId: asTaskRunId("1st"),
    taskId: asTaskId("1"),
    runId: null,
    kind: "work",
    title: "work",
    attempt: 1,
    interruptions: 0,
    deferrals: 0,
    gated: false,
    claimNo: 1,
    input: null,
    policy: { attempts: 1, backoff: { firstMs: 0, factor: 1, maxMs: 0 }, onLost: "retry" },
    waitedMs: 0,
    availableMs: 0,
    job: null,
    ...parts,
  };
}
