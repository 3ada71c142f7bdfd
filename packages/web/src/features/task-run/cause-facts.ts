/** What a cause says besides its label: which one, and how many of how many. */

import type { WaitingCause } from "@signalbox/contract";
import type { Words } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { lengthText } from "../../shared/time/length.ts";
import type { WaitingCode } from "../task-runs/cause-label.ts";

type Facts = {
  readonly [Code in WaitingCode]: (
    cause: Extract<WaitingCause, { code: Code }>,
    words: Words,
  ) => readonly string[];
};

const FACTS: Facts = {
  RUN_AT: () => [],
  STOPPED: ({ detail }) => [detail ?? ""],
  PAUSED: ({ scope, reason }) => [nameOf(scope), reason ?? ""],
  NO_EXECUTOR: () => [],
  WINDOW: ({ scope, window }, words) => [nameOf(scope), words(`window.${window}`)],
  OUT_OF_ORDER: ({ resource, doneVersion, version }, words) => [
    resource,
    words("fact.doneVersion", { version: doneVersion, own: version }),
  ],
  VERSION_ORDER: ({ resource, blockerVersion, version }, words) => [
    resource,
    words("fact.lowerVersion", { version: blockerVersion, own: version }),
  ],
  RUN_LIMIT: ({ active, limit }, words) => [words("fact.ofLimit", { used: active, limit })],
  QUEUE_LIMIT: ({ queue, active, limit }, words) => [queue, words("fact.ofLimit", { used: active, limit })],
  KEY_LIMIT: ({ active, limit }, words) => [words("fact.ofLimit", { used: active, limit })],
  FAIR_SHARE: ({ available, share }, words) => [words("fact.ofLimit", { used: available, limit: share })],
  RATE_LIMIT: ({ rate, amount, perMs }, words) => [
    rate,
    words("fact.rate", { amount, length: lengthText(perMs, words.locale) }),
  ],
  RESOURCE_BUSY: ({ resource, because }, words) => [resource, words(`fact.busy.${because}`)],
  NOT_EVALUATED: () => [],
};

export function causeFacts<Code extends WaitingCode>(
  cause: Extract<WaitingCause, { code: Code }>,
  words: Words,
): string {
  const facts: (cause: Extract<WaitingCause, { code: Code }>, words: Words) => readonly string[] =
    FACTS[cause.code as Code];
  return facts(cause, words)
    .filter((part) => part !== "")
    .map(safeText)
    .join(" · ");
}

function nameOf(scope: string): string {
  return scope.slice(scope.indexOf(":") + 1);
}
