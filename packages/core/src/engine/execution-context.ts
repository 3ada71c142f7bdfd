/** What an execution is told about itself. What costs something is made when it is asked for. */

import { writeJson } from "../domain/json-value.ts";
import { requireDelay } from "../executors/answers.ts";
import { type ExecutionContext, ExecutionStoppedError, type Executor } from "../executors/executor.ts";
import type { ExecutionTools } from "./execution-tools.ts";
import type { HeldClaim } from "./held-claims.ts";
import { sentenceOn } from "./not-json.ts";

export class HeldContext implements ExecutionContext {
  readonly taskRunId: ExecutionContext["taskRunId"];
  readonly taskId: ExecutionContext["taskId"];
  readonly attempt: number;
  readonly fence: number;
  readonly progress: () => void;
  readonly #held: HeldClaim;
  readonly #executor: Executor;
  readonly #tools: ExecutionTools;

  constructor(held: HeldClaim, executor: Executor, progress: () => void, tools: ExecutionTools) {
    const { taskRunId, taskId, attempt, claimNo } = held.claim;
    this.taskRunId = taskRunId;
    this.taskId = taskId;
    this.attempt = attempt;
    this.fence = claimNo;
    this.progress = progress;
    this.#held = held;
    this.#executor = executor;
    this.#tools = tools;
  }

  get signal(): AbortSignal {
    return this.#held.stop.signal;
  }

  get log(): ExecutionContext["log"] {
    return this.#tools.log;
  }

  get processes(): ExecutionContext["processes"] {
    return this.#tools.processes;
  }

  get keepHandle(): ExecutionContext["keepHandle"] {
    return async (handle, { deadlineInMs }) => await this.#keepHandle(handle, deadlineInMs);
  }

  async #keepHandle(handle: unknown, deadlineInMs: number): Promise<void> {
    const executor = this.#executor;
    if (executor.poll === undefined)
      throw new TypeError(`"${executor.kind}" has no poll: nobody could use a handle`);
    const written = writeJson(handle);
    if (written.kind === "problem") throw new TypeError(sentenceOn("The handle", written));
    const copy = JSON.parse(written.text) as unknown;
    requireDelay("deadlineInMs", deadlineInMs);
    const held = this.#held;
    // Its outcome is on its way, and says that there is no handle to clear away.
    if (held.ended || held.stuck) throw new ExecutionStoppedError("fence");
    // A second one that is not stored leaves the first: there is a handle all the same.
    if (held.handle === "none") held.handle = "unsure";
    if (!(await this.#tools.keepHandle(copy, deadlineInMs))) throw new ExecutionStoppedError("fence");
    held.handle = "kept";
  }
}
