/**
 * The renewing thread as its instance sees it. It outlives a lost lease: to start a thread takes a busy machine longer
 * than a short lease lasts, and an instance that needed a new one for each life would never get through its first beat.
 */

import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { InstanceId } from "../domain/ids.ts";
import type { LeaseMessage, LeaseOrder, LeaseThreadData, ReportRequest, ThreadRuns } from "./lease-thread.ts";
import type { WatchedClaim, WatchRequest } from "./overdue-watch.ts";
import { startThread } from "./start-thread.ts";

export interface LeaseRenewer {
  /** Resolves when the thread runs: a lease that begins then is renewed from its first moment on. Waits for no longer than one lasts. */
  readonly start: () => Promise<void>;
  /** Renews this lease, and no other one any more. */
  readonly renew: (
    lease: { readonly instanceId: InstanceId; readonly memory: SharedArrayBuffer },
    onMessage: (message: LeaseMessage) => void,
  ) => void;
  /** Renews nothing until the next order. */
  readonly rest: (instanceId: InstanceId) => void;
  /** Tells every good renewal there as well. */
  readonly reportTo: (path: string) => void;
  /** Ends this claim of the life it renews when it is overdue, unless `unwatch` is called before. */
  readonly watch: (claim: WatchedClaim) => void;
  readonly unwatch: (claim: Pick<WatchedClaim, "taskRunId" | "claimNo">) => void;
  readonly end: () => Promise<void>;
}

export function createLeaseRenewer(data: LeaseThreadData): LeaseRenewer {
  let thread: Worker | null = null;
  let runs: Promise<void> = Promise.resolve();
  let current: InstanceId | null = null;
  let tell: (message: LeaseMessage) => void = () => {};

  const started = (): Worker => {
    if (thread !== null) return thread;
    const fresh = startThread("lease-thread", data);
    runs = new Promise((resolve) => {
      fresh.once("message", resolve).once("exit", resolve);
    });
    fresh.on("message", (message: LeaseMessage | ThreadRuns) => {
      // Of a life before: its lease is given up.
      if (message.kind !== "runs" && message.instanceId === current) tell(message);
    });
    // A thread that cannot run renews nothing: the deadline decides, as with every other failure. The next life has another.
    fresh.on("error", ({ message }) => {
      if (current !== null) tell({ kind: "failed", instanceId: current, message, code: null });
    });
    fresh.once("exit", () => {
      if (thread === fresh) thread = null;
    });
    thread = fresh;
    return fresh;
  };
  return {
    start: async () => {
      started();
      await Promise.race([runs, wait(data.leaseMs, undefined, { ref: false })]);
    },
    renew: (lease, onMessage) => {
      current = lease.instanceId;
      tell = onMessage;
      started().postMessage(lease satisfies LeaseOrder);
    },
    rest: (instanceId) => {
      // The next life may have begun before the last one has been put away.
      if (current !== instanceId) return;
      current = null;
      thread?.postMessage(null satisfies LeaseOrder);
    },
    reportTo: (path) => {
      started().postMessage({ reportTo: path } satisfies ReportRequest);
    },
    watch: (claim) => {
      if (claim.claimedBy === current) started().postMessage({ watch: claim } satisfies WatchRequest);
    },
    unwatch: ({ taskRunId, claimNo }) => {
      thread?.postMessage({ unwatch: { taskRunId, claimNo } } satisfies WatchRequest);
    },
    end: async () => {
      await thread?.terminate();
    },
  };
}
