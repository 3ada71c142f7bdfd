/** Watches over the lease of one boot id: knows until when it may be trusted, and says when it is gone. */

import type { InstanceId } from "../domain/ids.ts";
import type { LeaseSource } from "../executors/process/running-process.ts";
import { newLeaseBuffer, openLeaseMemory } from "./lease-memory.ts";
import type { LeaseRenewer } from "./lease-renewer.ts";
import type { LeaseMessage } from "./lease-thread.ts";
import { monotonicMs } from "./monotonic.ts";

export interface LeaseKeeperOptions {
  readonly instanceId: InstanceId;
  readonly leaseMs: number;
  readonly beatMs: number;
  /** Monotonic time before the statement that began the lease was sent. */
  readonly begunAtMs: number;
  /** The same for all lives of an instance. */
  readonly renewer: LeaseRenewer;
  /** Of the server that answered, before either of the others is called. */
  readonly onTimeline: (timeline: number) => void;
  readonly onRenewed: (tookMs: number) => void;
  /** A beat failed; the lease is trusted for so long without a good one. */
  readonly onFailed: (error: unknown, trustedForMs: number) => void;
  /** Called once: everything must be given up now, before the lease ends in the database. */
  readonly onLost: () => void;
}

export interface LeaseKeeper {
  isTrusted: () => boolean;
  /** What a warden must know of it. */
  readonly source: LeaseSource;
  stop: () => Promise<void>;
}

/** Without a good beat for this part of the lease, it is given up: the rest is the time to stop in. */
const TRUSTED_PART = 0.75;

export function keepLease(options: LeaseKeeperOptions): LeaseKeeper {
  const { instanceId, leaseMs, beatMs, renewer } = options;
  const buffer = newLeaseBuffer(options.begunAtMs);
  const memory = openLeaseMemory(buffer);
  let over = false;
  let reportsTo: string | null = null;

  const trustedForMs = (): number => memory.renewedAtMs() + leaseMs * TRUSTED_PART - monotonicMs();
  const isTrusted = (): boolean => !over && trustedForMs() > 0;
  const lose = (): void => {
    if (over) return;
    over = true;
    clearInterval(timer);
    options.onLost();
  };
  renewer.renew({ instanceId, memory: buffer }, (message: LeaseMessage) => {
    if (over) return;
    if (message.kind === "failed") {
      options.onFailed(errorOf(message), Math.max(0, trustedForMs()));
      return;
    }
    options.onTimeline(message.timeline);
    if (message.kind === "lost") lose();
    else options.onRenewed(message.tookMs);
  });
  const timer = setInterval(
    () => {
      memory.tick();
      if (!isTrusted()) lose();
    },
    Math.min(beatMs, 250),
  );

  return {
    isTrusted,
    source: {
      life: instanceId,
      leaseMs,
      renewedAtMs: memory.renewedAtMs,
      reportTo: (path) => {
        if (reportsTo === path) return;
        reportsTo = path;
        renewer.reportTo(path);
      },
    },
    stop: async () => {
      over = true;
      clearInterval(timer);
      renewer.rest(instanceId);
    },
  };
}

/** An error does not keep its code on the way between threads. */
function errorOf({ message, code }: Extract<LeaseMessage, { kind: "failed" }>): Error {
  return Object.assign(new Error(message), code === null ? {} : { code });
}
