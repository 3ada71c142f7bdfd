/**
 * In the lease's thread: ends what runs for too long while the main loop is blocked and can neither tell it to stop nor
 * settle it. The write is a settle like any other, fenced by owner and claim number, so a main loop that wakes up at the
 * same moment finds it done. What it blocks with may still be at work: what it held alone is kept for its task.
 */

import type { InstanceId, RunId, TaskRunId } from "../domain/ids.ts";
import type { Settlement } from "../domain/settlement.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Pool } from "../store/database.ts";
import { notifyChannels } from "../store/notify.ts";
import { settleTaskRuns } from "../store/task-runs/settle.ts";

export interface WatchedClaim {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
  readonly runId: RunId | null;
  readonly settlement: Settlement;
  /** Monotonic time. */
  readonly overdueAtMs: number;
}

export type WatchRequest =
  | { readonly watch: WatchedClaim }
  | { readonly unwatch: Pick<WatchedClaim, "taskRunId" | "claimNo"> };

export interface OverdueWatch {
  readonly take: (request: WatchRequest) => void;
  /** The life they were claimed in is over: whoever rescues it settles them. */
  readonly forget: () => void;
  /** Each by itself. What fails is tried again by the next call. */
  readonly endOverdue: () => Promise<EndedOverdue>;
}

interface EndedOverdue {
  /** What it settled, and for whom. */
  readonly ended: readonly { readonly taskRunId: TaskRunId; readonly instanceId: InstanceId }[];
  readonly failures: readonly unknown[];
}

export function watchOverdue(pool: Pool): OverdueWatch {
  const watched = new Map<TaskRunId, WatchedClaim>();
  const settleOne = async (claim: WatchedClaim): Promise<boolean> =>
    await pool.transaction(async (tx) => {
      const settled = await settleTaskRuns(tx, [{ ...claim, outside: true }]);
      if (settled.length > 0) await notifyChannels(tx, ["signalbox_gate"]);
      return settled.length > 0;
    });
  const forgetOne = ({ taskRunId, claimNo }: Pick<WatchedClaim, "taskRunId" | "claimNo">): void => {
    if (watched.get(taskRunId)?.claimNo === claimNo) watched.delete(taskRunId);
  };
  return {
    take: (request) => {
      if ("watch" in request) watched.set(request.watch.taskRunId, request.watch);
      else forgetOne(request.unwatch);
    },
    forget: () => watched.clear(),
    endOverdue: async () => {
      const overdue = [...watched.values()].filter(({ overdueAtMs }) => overdueAtMs < monotonicMs());
      const ended: EndedOverdue["ended"][number][] = [];
      const failures: unknown[] = [];
      for (const claim of overdue) {
        // The main loop may have got to it while the one before was written.
        if (watched.get(claim.taskRunId) !== claim) continue;
        const { taskRunId, claimedBy } = claim;
        try {
          if (await settleOne(claim)) ended.push({ taskRunId, instanceId: claimedBy });
          forgetOne(claim);
        } catch (error) {
          failures.push(error);
        }
      }
      return { ended, failures };
    },
  };
}
