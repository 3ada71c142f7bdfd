/** What an instance lends to an execution. Each is made when it is asked for: most executions ask for nothing. */

import type { InstanceId } from "../domain/ids.ts";
import type { ExecutionContext } from "../executors/executor.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { ExecutionProcesses, Processes } from "../executors/process/processes.ts";
import type { LeaseSource, ProcessHost } from "../executors/process/running-process.ts";
import type { Pool } from "../store/database.ts";
import { keepHandle } from "../store/outside-jobs/let-go.ts";
import type { Claim } from "../store/task-runs/claim.ts";
import { type ExecutionStart, processTerms } from "./execution-limits.ts";
import type { HeldClaim } from "./held-claims.ts";
import type { Emit } from "./telemetry.ts";

export interface ExecutionTools {
  readonly log: ExecutionContext["log"];
  readonly processes: ProcessHost;
  /** False: the claim is not ours any more. */
  readonly keepHandle: (handle: unknown, deadlineInMs: number) => Promise<boolean>;
  /**
   * Before an outcome is recorded, also that of one which ignores its signal: no process of it is at work then, and all
   * that was logged is stored, because nothing more can be. Null: there is nothing to wait for.
   */
  readonly end: () => Promise<void> | null;
}

/** The log of one execution. */
interface LentLog {
  readonly write: ExecutionContext["log"];
  readonly end: () => Promise<void>;
}

export interface ToolLender {
  readonly pool: Pool;
  readonly logs: { readonly open: (claim: Claim, claimedBy: InstanceId) => LentLog };
  readonly processes: Processes;
  readonly lease: LeaseSource;
  readonly instanceId: InstanceId;
  readonly emit: Emit;
}

export class LentTools implements ExecutionTools {
  readonly #lender: ToolLender;
  readonly #held: HeldClaim;
  readonly #start: ExecutionStart;
  #log: LentLog | null = null;
  #processes: ExecutionProcesses | null = null;
  #isOver = false;

  constructor(lender: ToolLender, held: HeldClaim, obeyMs: number) {
    this.#lender = lender;
    this.#held = held;
    this.#start = { obeyMs, begunAtMs: monotonicMs() };
  }

  get log(): ExecutionTools["log"] {
    this.#log ??= this.#lender.logs.open(this.#held.claim, this.#lender.instanceId);
    return this.#log.write;
  }

  get processes(): ProcessHost {
    if (this.#processes === null) {
      this.#processes = this.#lender.processes.of(processTerms(this.#held, this.#lender, this.#start));
      // It ignores its signal and has been settled: it starts nothing any more.
      if (this.#isOver) void this.#processes.endAll();
    }
    return this.#processes;
  }

  async keepHandle(handle: unknown, deadlineInMs: number): Promise<boolean> {
    const { pool, instanceId } = this.#lender;
    const { taskRunId, claimNo } = this.#held.claim;
    return await pool.transaction(async (tx) => {
      const owned = { taskRunId, claimNo, claimedBy: instanceId };
      return await keepHandle(tx, owned, { handle, deadlineInMs });
    });
  }

  end(): Promise<void> | null {
    this.#isOver = true;
    return this.#log === null && this.#processes === null ? null : this.#endLent();
  }

  async #endLent(): Promise<void> {
    await this.#processes?.endAll();
    await this.#log?.end();
  }
}
