/** The short label of a waiting cause. A new gate does not compile until it has its words here. */

import type { TaskRun, WaitingCause } from "@signalbox/contract";
import type { MessageId, Words } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";

export type WaitingCode = WaitingCause["code"];

/** Names of resources are free; these beginnings say that one is a database. */
const DATABASE = /^(?:database|db)[:/]/i;

type Labels = {
  readonly [Code in WaitingCode]: (
    cause: Extract<WaitingCause, { code: Code }>,
    words: Words,
    clock: Clock,
  ) => string;
};
type Clock = (at: string) => string;

const LABELS: Labels = {
  RUN_AT: (_, words) => words("cause.RUN_AT"),
  STOPPED: ({ stop }, words) => stopLabel(stop, words),
  PAUSED: ({ by }, words) =>
    by === null ? words("cause.PAUSED.short") : words("cause.PAUSED", { user: safeText(by) }),
  NO_EXECUTOR: ({ kind }, words) => words("cause.NO_EXECUTOR", { kind: safeText(kind) }),
  WINDOW: (_, words) => words("cause.WINDOW"),
  OUT_OF_ORDER: (_, words) => words("cause.OUT_OF_ORDER"),
  VERSION_ORDER: (_, words) => words("cause.VERSION_ORDER"),
  RUN_LIMIT: (_, words) => words("cause.RUN_LIMIT"),
  QUEUE_LIMIT: (_, words) => words("cause.QUEUE_LIMIT"),
  KEY_LIMIT: ({ concurrencyKey }, words) => words("cause.KEY_LIMIT", { key: safeText(concurrencyKey) }),
  FAIR_SHARE: (_, words) => words("cause.FAIR_SHARE"),
  RATE_LIMIT: ({ freeAt }, words, clock) =>
    freeAt === null ? words("cause.RATE_LIMIT.short") : words("cause.RATE_LIMIT", { time: clock(freeAt) }),
  RESOURCE_BUSY: ({ resource }, words) => busyLabel(resource, words),
  NOT_EVALUATED: ({ since }, words, clock) => words("cause.NOT_EVALUATED", { time: clock(since) }),
};

export function causeLabel<Code extends WaitingCode>(
  cause: Extract<WaitingCause, { code: Code }>,
  words: Words,
  clock: Clock,
): string {
  const label: (cause: Extract<WaitingCause, { code: Code }>, words: Words, clock: Clock) => string =
    LABELS[cause.code as Code];
  return label(cause, words, clock);
}

/** What a list knows: the gate, and what the row itself says. */
export function blockedLabel(taskRun: TaskRun, words: Words): string | null {
  const { status, blockedOn, concurrencyKey, kind, resources } = taskRun;
  if (status !== "PENDING") return null;
  if (blockedOn === "KEY_LIMIT") return words("cause.KEY_LIMIT", { key: safeText(concurrencyKey ?? "") });
  if (blockedOn === "NO_EXECUTOR") return words("cause.NO_EXECUTOR", { kind: safeText(kind) });
  if (blockedOn === "RESOURCE_BUSY")
    return busyLabel(resources.length === 1 ? (resources[0]?.name ?? "") : "", words);
  return codeLabel(blockedOn ?? "NOT_EVALUATED", words);
}

/** Of many at once, where only the gate is known. */
const CODE_LABELS = {
  RUN_AT: "cause.RUN_AT",
  STOPPED: "cause.STOPPED.short",
  PAUSED: "cause.PAUSED.short",
  NO_EXECUTOR: "cause.NO_EXECUTOR.short",
  WINDOW: "cause.WINDOW",
  OUT_OF_ORDER: "cause.OUT_OF_ORDER",
  VERSION_ORDER: "cause.VERSION_ORDER",
  RUN_LIMIT: "cause.RUN_LIMIT",
  QUEUE_LIMIT: "cause.QUEUE_LIMIT",
  KEY_LIMIT: "cause.KEY_LIMIT.short",
  FAIR_SHARE: "cause.FAIR_SHARE",
  RATE_LIMIT: "cause.RATE_LIMIT.short",
  RESOURCE_BUSY: "cause.RESOURCE_BUSY.other",
  NOT_EVALUATED: "cause.NOT_EVALUATED.short",
} as const satisfies Record<WaitingCode, MessageId>;

export function codeLabel(code: WaitingCode, words: Words): string {
  return words(CODE_LABELS[code]);
}

/** A package ships the labels of its codes; one that is not known here is shown as it is. */
function stopLabel(stop: string, words: Words): string {
  switch (stop) {
    case "STAGE_ORDER":
    case "APPROVAL":
    case "PLAN_CHECK":
      return words(`cause.${stop}`);
    default:
      return safeText(stop);
  }
}

function busyLabel(resource: string, words: Words): string {
  return words(DATABASE.test(resource) ? "cause.RESOURCE_BUSY.database" : "cause.RESOURCE_BUSY.other");
}
