import type { WaitingCause, WaitingCode } from "../waiting-cause.ts";
import type { Candidate, Gate, GateView } from "./gate.ts";
import { resourceBusy } from "./resource-busy.ts";
import { runAt } from "./run-at.ts";
import { runLimit } from "./run-limit.ts";
import { versionOrder } from "./version-order.ts";

/**
 * Every gate, in the order in which they park a task run. RESOURCE_BUSY is last on purpose: whoever
 * stands in a resource's line waits for resources and for nothing else.
 */
export const GATES: Readonly<Record<WaitingCode, Gate>> = {
  RUN_AT: runAt,
  VERSION_ORDER: versionOrder,
  RUN_LIMIT: runLimit,
  RESOURCE_BUSY: resourceBusy,
};

export const GATE_CODES: readonly WaitingCode[] = Object.keys(GATES) as WaitingCode[];

/** The first cause that parks the candidate, or null when every gate is open. */
export function firstCause(candidate: Candidate, view: GateView): WaitingCause | null {
  for (const code of GATE_CODES) {
    const [cause] = GATES[code](candidate, view);
    if (cause !== undefined) return cause;
  }
  return null;
}
