import type { GateCode, WaitingCause } from "../waiting-cause.ts";
import { fairShare } from "./fair-share.ts";
import type { Candidate, Gate, GateView } from "./gate.ts";
import { keyLimit } from "./key-limit.ts";
import { noExecutor } from "./no-executor.ts";
import { outOfOrder } from "./out-of-order.ts";
import { paused } from "./paused.ts";
import { queueLimit } from "./queue-limit.ts";
import { rateLimit } from "./rate-limit.ts";
import { resourceBusy } from "./resource-busy.ts";
import { runAt } from "./run-at.ts";
import { runLimit } from "./run-limit.ts";
import { stopped } from "./stopped.ts";
import { versionOrder } from "./version-order.ts";
import { window } from "./window.ts";

/**
 * Every gate, in the order in which they park a task run. RESOURCE_BUSY is last on purpose: whoever
 * stands in a resource's line waits for resources and for nothing else.
 */
export const GATES: Readonly<Record<GateCode, Gate>> = {
  RUN_AT: runAt,
  STOPPED: stopped,
  PAUSED: paused,
  NO_EXECUTOR: noExecutor,
  WINDOW: window,
  OUT_OF_ORDER: outOfOrder,
  VERSION_ORDER: versionOrder,
  RUN_LIMIT: runLimit,
  QUEUE_LIMIT: queueLimit,
  KEY_LIMIT: keyLimit,
  FAIR_SHARE: fairShare,
  RATE_LIMIT: rateLimit,
  RESOURCE_BUSY: resourceBusy,
};

export const GATE_CODES: readonly GateCode[] = Object.keys(GATES) as GateCode[];

/** The first cause that parks the candidate, or null when every gate is open. */
export function firstCause(candidate: Candidate, view: GateView): WaitingCause | null {
  for (const code of GATE_CODES) {
    const [cause] = GATES[code](candidate, view);
    if (cause !== undefined) return cause;
  }
  return null;
}
