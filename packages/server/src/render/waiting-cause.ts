/** One sentence per waiting cause. A new gate does not compile until it has its words here. */

import type { Blocker, ExplainedCause, GateReport, WaitingCause } from "@signalbox/contract";
import type { Look } from "./look.ts";
import { statusWord } from "./status-look.ts";
import { quoted, safeText, shortId } from "./task-name.ts";
import { clockText, lengthText, relativeText, sinceText } from "./time.ts";

type Code = WaitingCause["code"];

export const GATE_WORDS = {
  RUN_AT: { label: "Run time", passed: "its run time has come", notApplicable: "no run time set" },
  STOPPED: { label: "Stops", passed: "all were taken off", notApplicable: "none put on it" },
  PAUSED: { label: "Pauses", passed: "nothing it needs is paused", notApplicable: "nothing to pause" },
  NO_EXECUTOR: { label: "Executor", passed: "a live instance can run it", notApplicable: "needs none" },
  WINDOW: { label: "Windows", passed: "open now", notApplicable: "no window on its queue or resources" },
  OUT_OF_ORDER: {
    label: "Version done",
    passed: "no larger version is done on its resources",
    notApplicable: "no version set, or it may start out of order",
  },
  VERSION_ORDER: {
    label: "Version order",
    passed: "no smaller version is open on its resources",
    notApplicable: "no version set",
  },
  RUN_LIMIT: { label: "Run limit", passed: "its run has a free slot", notApplicable: "not part of a run" },
  QUEUE_LIMIT: {
    label: "Queue limit",
    passed: "its queue has a free slot",
    notApplicable: "its queue has no limit",
  },
  KEY_LIMIT: { label: "Key limit", passed: "its key has a free slot", notApplicable: "no concurrency key" },
  FAIR_SHARE: {
    label: "Fair share",
    passed: "its run has not used its share",
    notApplicable: "not part of a run",
  },
  RATE_LIMIT: { label: "Rate", passed: "it may start now", notApplicable: "no rate" },
  RESOURCE_BUSY: { label: "Resource", passed: "free for it", notApplicable: "names no resource" },
  NOT_EVALUATED: { label: "Next pass", passed: "looked at", notApplicable: "looked at" },
} as const satisfies Record<Code, { label: string; passed: string; notApplicable: string }>;

/** Short labels of the codes by which waiting task runs are counted. */
export const WAITING_LABEL = {
  RUN_AT: "scheduled for later",
  STOPPED: "stopped until released",
  PAUSED: "paused",
  NO_EXECUTOR: "no instance can run this kind",
  WINDOW: "outside its window",
  OUT_OF_ORDER: "larger version is done",
  VERSION_ORDER: "lower version first",
  RUN_LIMIT: "run at its parallel limit",
  QUEUE_LIMIT: "queue at its limit",
  KEY_LIMIT: "concurrency key at its limit",
  FAIR_SHARE: "its run has its share",
  RATE_LIMIT: "rate used up for now",
  RESOURCE_BUSY: "resource in use by another task",
  NOT_EVALUATED: "not looked at yet",
} as const satisfies Record<Code, string>;

export interface Moment {
  /** When the answer was computed, by the database's clock. */
  readonly now: string;
  readonly look: Look;
}

type Sentences = {
  readonly [Each in Code]: (cause: Extract<WaitingCause, { code: Each }>, moment: Moment) => string;
};

const SENTENCES: Sentences = {
  RUN_AT: ({ runAt }, moment) => `it is scheduled for ${whenText(runAt, moment)}`,
  STOPPED: ({ stop, detail }) => `it is stopped by ${stop}${detail === null ? "" : `: ${detail}`}`,
  PAUSED: pausedSentence,
  NO_EXECUTOR: ({ kind }) => `no live instance can run ${quoted(kind)}`,
  WINDOW: windowSentence,
  OUT_OF_ORDER: ({ doneVersion, version, resource }) =>
    `version ${doneVersion} is DONE on ${quoted(resource)}, so ${version} is too late`,
  VERSION_ORDER: ({ blockerVersion, version, resource }) =>
    `version ${blockerVersion} comes before ${version} on ${quoted(resource)}`,
  RUN_LIMIT: ({ active, limit }) => `its run is at its parallel limit (${active} of ${limit})`,
  QUEUE_LIMIT: ({ queue, active, limit }) => `queue ${quoted(queue)} is at its limit (${active} of ${limit})`,
  KEY_LIMIT: ({ concurrencyKey, active, limit }) =>
    `concurrency key ${quoted(concurrencyKey)} is at its limit (${active} of ${limit})`,
  FAIR_SHARE: ({ available, share }) =>
    `its run has its share of what may be claimed (${available} of ${share})`,
  RATE_LIMIT: rateSentence,
  RESOURCE_BUSY: resourceSentence,
  NOT_EVALUATED: ({ since }, { now }) => `no pass has looked at it for ${sinceText(since, now)}`,
};

/** What is true: `database "orders" is in use by another task`. */
export function causeSentence<Each extends Code>(
  cause: Extract<WaitingCause, { code: Each }>,
  moment: Moment,
): string {
  const sentence: (cause: Extract<WaitingCause, { code: Each }>, moment: Moment) => string =
    SENTENCES[cause.code as Each];
  return sentence(cause, moment);
}

function whenText(at: string, { now, look }: Moment): string {
  return `${clockText(at, now, look)} (${relativeText(at, now)})`;
}

/** `queue "mail"`, `run 019a8c3e` */
function scopeText(scope: string): string {
  const at = scope.indexOf(":");
  const [over, name] = [scope.slice(0, at), scope.slice(at + 1)];
  return over === "run" ? `run ${shortId(name)}` : `${over} ${quoted(name)}`;
}

function pausedSentence(
  { scope, since, by, reason }: Extract<WaitingCause, { code: "PAUSED" }>,
  { now }: Moment,
): string {
  const who = by === null ? "" : ` by ${by}`;
  const why = reason === null ? "" : `: ${safeText(reason)}`;
  return `${scopeText(scope)} has been paused${who} for ${sinceText(since, now)}${why}`;
}

function windowSentence(
  { scope, window, opensAt }: Extract<WaitingCause, { code: "WINDOW" }>,
  moment: Moment,
): string {
  const state = window === "freeze" ? "is frozen" : "is outside its maintenance window";
  const until = opensAt === null ? "" : ` until ${whenText(opensAt, moment)}`;
  return `${scopeText(scope)} ${state}${until}`;
}

function rateSentence(
  { rate, amount, perMs, freeAt }: Extract<WaitingCause, { code: "RATE_LIMIT" }>,
  { now }: Moment,
): string {
  const next = freeAt === null ? "" : `; the next may start ${relativeText(freeAt, now)}`;
  return `rate ${quoted(rate)} allows ${amount} in ${lengthText(perMs)}${next}`;
}

function resourceSentence({
  because,
  resource,
  mode,
}: Extract<WaitingCause, { code: "RESOURCE_BUSY" }>): string {
  const alone = mode === "exclusive" ? ", and it wants it alone" : "";
  switch (because) {
    case "held":
      return `${quoted(resource)} is in use by another task${alone}`;
    case "reserved":
      return `${quoted(resource)} is kept for a task whose instance was lost`;
    case "line":
      return `others come first on ${quoted(resource)}`;
  }
}

/** Who stands in the way, where it stands in line, and when it can go on at the earliest: a line each. */
export function causeDetails(explained: ExplainedCause, moment: Moment): readonly string[] {
  const { cause, blockers, position, lineLength } = explained;
  const details = blockers.map((blocker) => blockerText(blocker, moment));
  if (cause.code === "RESOURCE_BUSY" && cause.reservedFor !== null && blockers.length === 0) {
    details.push(`kept for task ${shortId(cause.reservedFor)}`);
  }
  if (position !== null) details.push(positionText(position, lineLength));
  return details;
}

/** `"add column" 019a8c3e-… (running on inst-b for 6.0 s)` */
function blockerText(blocker: Blocker, { now }: Moment): string {
  const where = blocker.instanceName === null ? "" : ` on ${blocker.instanceName}`;
  const state = `${statusWord(blocker.status)}${where} for ${sinceText(blocker.since, now)}`;
  return `${quoted(blocker.title)} ${shortId(blocker.taskRunId)} (${state})`;
}

export function positionText(position: number, lineLength: number | null): string {
  return lineLength === null ? `number ${position} in line` : `number ${position} of ${lineLength} in line`;
}

export function firstBlocking(gates: readonly GateReport[]): ExplainedCause | null {
  return gates.find(({ state }) => state === "blocking")?.causes[0] ?? null;
}
