/** What a cause says besides its label: which one, and how many of how many. */

import type { WaitingCause } from "@signalbox/contract";
import type { Words } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { lengthText } from "../../shared/time/length.ts";

export function causeFacts(cause: WaitingCause, words: Words): string {
  switch (cause.code) {
    case "RUN_LIMIT":
    case "QUEUE_LIMIT":
    case "KEY_LIMIT":
      return joined(
        cause.code === "QUEUE_LIMIT" ? cause.queue : "",
        words("fact.ofLimit", { used: cause.active, limit: cause.limit }),
      );
    case "FAIR_SHARE":
      return words("fact.ofLimit", { used: cause.available, limit: cause.share });
    case "RATE_LIMIT":
      return joined(
        cause.rate,
        words("fact.rate", { amount: cause.amount, length: lengthText(cause.perMs, words.locale) }),
      );
    case "RESOURCE_BUSY":
      return joined(cause.resource, words(`fact.busy.${cause.because}`));
    case "VERSION_ORDER":
      return joined(
        cause.resource,
        words("fact.lowerVersion", { version: cause.blockerVersion, own: cause.version }),
      );
    case "OUT_OF_ORDER":
      return joined(
        cause.resource,
        words("fact.doneVersion", { version: cause.doneVersion, own: cause.version }),
      );
    case "PAUSED":
      return joined(nameOf(cause.scope), cause.reason ?? "");
    case "WINDOW":
      return joined(nameOf(cause.scope), words(`window.${cause.window}`));
    case "STOPPED":
      return safeText(cause.detail ?? "");
    case "RUN_AT":
    case "NO_EXECUTOR":
    case "NOT_EVALUATED":
      return "";
  }
}

function joined(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map(safeText)
    .join(" · ");
}

function nameOf(scope: string): string {
  return scope.slice(scope.indexOf(":") + 1);
}
