/** Watches over the lease of one boot id: knows until when it may be trusted, and says when it is gone. */

import type { Worker } from "node:worker_threads";
import type { InstanceId } from "../domain/ids.ts";
import type { LeaseMessage, LeaseThreadData } from "./lease-thread.ts";
import { monotonicMs } from "./monotonic.ts";
import { startThread } from "./start-thread.ts";

export interface LeaseKeeperOptions {
  readonly url: string;
  readonly instanceId: InstanceId;
  readonly leaseMs: number;
  readonly beatMs: number;
  /** Monotonic time before the statement that began the lease was sent. */
  readonly begunAtMs: number;
  readonly onRenewed: () => void;
  /** Called once: everything must be given up now, before the lease ends in the database. */
  readonly onLost: () => void;
}

export interface LeaseKeeper {
  isTrusted: () => boolean;
  stop: () => Promise<void>;
}

/** Without a good beat for this part of the lease, it is given up: the rest is the time to stop in. */
const TRUSTED_PART = 0.75;

export function keepLease(options: LeaseKeeperOptions): LeaseKeeper {
  const { url, instanceId, leaseMs, beatMs } = options;
  const ticks = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(ticks);
  let trustedUntilMs = options.begunAtMs + leaseMs * TRUSTED_PART;
  let over = false;

  const isTrusted = (): boolean => !over && monotonicMs() < trustedUntilMs;
  const lose = (): void => {
    if (over) return;
    over = true;
    clearInterval(timer);
    options.onLost();
  };
  const data: LeaseThreadData = { url, instanceId, leaseMs, beatMs, ticks };
  const thread: Worker = startThread("lease-thread", data);
  thread.on("message", (message: LeaseMessage) => {
    if (over) return;
    if (message.kind === "lost") return lose();
    if (message.kind === "failed") return;
    trustedUntilMs = Math.max(trustedUntilMs, message.sentAtMs + leaseMs * TRUSTED_PART);
    if (isTrusted()) options.onRenewed();
    else lose();
  });
  // A thread that cannot run renews nothing: the deadline decides, as with every other failure.
  thread.on("error", () => {});
  const timer = setInterval(
    () => {
      Atomics.add(counter, 0, 1);
      if (!isTrusted()) lose();
    },
    Math.min(beatMs, 250),
  );

  return {
    isTrusted,
    stop: async () => {
      over = true;
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
