/** One sentence for each reason why nobody is at work on a task run that no gate holds. */

import type { UnattendedCause } from "@signalbox/contract";
import type { Words } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";

export function unattendedText(cause: UnattendedCause, words: Words, clock: (at: string) => string): string {
  switch (cause.code) {
    case "NOT_CLAIMED":
      return words("unattended.NOT_CLAIMED", { count: cause.freeSlots });
    case "NO_FREE_SLOT":
      return words("unattended.NO_FREE_SLOT", { count: cause.instances });
    case "NO_EXECUTOR":
      return words("cause.NO_EXECUTOR", { kind: safeText(cause.kind) });
    case "RULES_CHANGED":
      return words("unattended.RULES_CHANGED", { queue: safeText(cause.queue) });
    case "WINDOW_CLOSED":
      return words("unattended.WINDOW_CLOSED", { time: clock(cause.closedAt) });
    case "NOT_POLLED":
      return words("unattended.NOT_POLLED", { time: clock(cause.pollAt), deadline: clock(cause.deadline) });
    case "NO_POLLER":
      return words("unattended.NO_POLLER", { kind: safeText(cause.kind), deadline: clock(cause.deadline) });
    case "LEASE_OVER":
      return words("unattended.LEASE_OVER");
    case "NOT_IN_WORK_SET":
      return words("unattended.NOT_IN_WORK_SET", { workSet: cause.workSet });
  }
}
