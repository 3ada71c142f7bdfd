/** Watches over the lease of one boot id: knows until when it may be trusted, and says when it is gone. */

import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { settle } from "../domain/settlement.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { LeaseSource } from "../executors/process/running-process.ts";
import type { Renewed } from "../store/instances/renew.ts";
import type { HeldClaim } from "./held-claims.ts";
import { newLeaseBuffer, openLeaseMemory } from "./lease-memory.ts";
import type { LeaseRenewer } from "./lease-renewer.ts";
import type { LeaseMessage } from "./lease-thread.ts";
import type { WatchedClaim } from "./overdue-watch.ts";

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
  readonly onRenewed: (state: Renewed["state"], tookMs: number) => void;
  /** A beat failed; the lease is trusted for so long without a good one. */
  readonly onFailed: (error: unknown, trustedForMs: number) => void;
  /** Called once: everything must be given up now, before the lease ends in the database. */
  readonly onLost: () => void;
  /** The thread has settled what ran for too long, while the main loop could not. */
  readonly onOverdue: (taskRunId: TaskRunId) => void;
  readonly onOverdueFailed: (error: unknown) => void;
}

export interface LeaseKeeper {
  isTrusted: () => boolean;
  /** From now on the thread ends it, should its timeout and then `obeyMs` pass without a word from the main loop. */
  watch: (held: HeldClaim, obeyMs: number) => void;
  unwatch: (held: HeldClaim) => void;
  /** What a warden must know of it. */
  readonly source: LeaseSource;
  stop: () => void;
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
    switch (message.kind) {
      case "renewed":
        options.onTimeline(message.timeline);
        return options.onRenewed(message.state, message.tookMs);
      case "lost":
        options.onTimeline(message.timeline);
        return lose();
      case "failed":
        return options.onFailed(errorOf(message), Math.max(0, trustedForMs()));
      case "overdue":
        return options.onOverdue(message.taskRunId);
      case "overdue_failed":
        return options.onOverdueFailed(errorOf(message));
    }
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
    ...watchOf(renewer, instanceId),
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
    stop: () => {
      over = true;
      clearInterval(timer);
      renewer.rest(instanceId);
    },
  };
}

function watchOf(renewer: LeaseRenewer, instanceId: InstanceId): Pick<LeaseKeeper, "watch" | "unwatch"> {
  return {
    watch: (held, obeyMs) => {
      const claim = watchedClaim(held, instanceId, obeyMs);
      if (claim !== null) renewer.watch(claim);
    },
    unwatch: ({ claim }) => {
      if (claim.policy.timeouts?.runningMs !== undefined) renewer.unwatch(claim);
    },
  };
}

/** A main loop that is not blocked finds it overdue at the same moment and knows more: it goes first. */
const MAIN_LOOP_FIRST_MS = 1_000;

/** With what is to be written made up beforehand: the thread only compares clocks. */
function watchedClaim({ claim }: HeldClaim, claimedBy: InstanceId, obeyMs: number): WatchedClaim | null {
  const { taskRunId, claimNo, runId, policy } = claim;
  const runningMs = policy.timeouts?.runningMs;
  // What always ends by itself is never settled before its end.
  if (runningMs === undefined || claim.job !== null || !Number.isFinite(obeyMs)) return null;
  const message = `It ran for more than ${runningMs} ms while the event loop was blocked, so that nobody could stop it`;
  const settlement = settle({ kind: "stuck", message, interrupted: false }, policy, claim, Math.random());
  const overdueAtMs = monotonicMs() + runningMs + obeyMs + MAIN_LOOP_FIRST_MS;
  return { taskRunId, claimNo, claimedBy, runId, settlement, overdueAtMs };
}

/** An error does not keep its code on the way between threads. */
function errorOf({ message, code }: { readonly message: string; readonly code: string | null }): Error {
  return Object.assign(new Error(message), code === null ? {} : { code });
}
