/** What an execution is told about itself. What costs something is made when it is asked for. */

import { writeJson } from "../domain/json-value.ts";
import { requireDelay } from "../executors/answers.ts";
import { type ExecutionContext, ExecutionStoppedError, type Executor } from "../executors/executor.ts";
import type { ExecutionTools } from "./execution-tools.ts";
import type { HeldClaim } from "./held-claims.ts";
import { sentenceOn } from "./not-json.ts";

const OF = Symbol("of");

/** One for all of them: an object with a getter of its own is of a shape of its own, and costs more than all the rest. */
const SIGNAL: PropertyDescriptor & ThisType<{ readonly [OF]: HeldClaim }> = {
  enumerable: true,
  get() {
    return this[OF].stop.signal;
  },
};

/** With members of its own: handlers may copy it to add to it. */
export function contextOf(
  held: HeldClaim,
  executor: Executor,
  progress: () => void,
  tools: ExecutionTools,
): ExecutionContext {
  const { taskRunId, taskId, attempt, claimNo } = held.claim;
  const context: Omit<ExecutionContext, "signal"> & { readonly [OF]: HeldClaim } = {
    taskRunId,
    taskId,
    attempt,
    fence: claimNo,
    progress,
    log: (content, stream) => tools.log(content, stream),
    processes: {
      makeFolder: async () => await tools.processes.makeFolder(),
      start: async (spec) => await tools.processes.start(spec),
    },
    [OF]: held,
    keepHandle: async (handle, options) => {
      if (executor.poll === undefined)
        throw new TypeError(`"${executor.kind}" has no poll: nobody could use a handle`);
      const written = writeJson(handle);
      if (written.kind === "problem") throw new TypeError(sentenceOn("The handle", written));
      const copy = JSON.parse(written.text) as unknown;
      // A caller without types may have left it out.
      const { deadlineInMs } = { ...options };
      requireDelay("deadlineInMs", deadlineInMs);
      // Its outcome is on its way, and says that there is no handle to clear away.
      if (held.ended || held.stuck) throw new ExecutionStoppedError("fence");
      // A second one that is not stored leaves the first: there is a handle all the same.
      if (held.handle === "none") held.handle = "unsure";
      if (!(await tools.keepHandle(copy, deadlineInMs))) throw new ExecutionStoppedError("fence");
      held.handle = "kept";
    },
  };
  return Object.defineProperty(context, "signal", SIGNAL) as typeof context &
    Pick<ExecutionContext, "signal">;
}
