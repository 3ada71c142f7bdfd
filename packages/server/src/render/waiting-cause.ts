/** One sentence per waiting cause. A new gate does not compile until it has its words here. */

import type { Blocker, ExplainedCause, GateReport, WaitingCause } from "@signalbox/contract";
import type { Look } from "./look.ts";
import { statusWord } from "./status-look.ts";
import { quoted, shortId } from "./task-name.ts";
import { clockText, relativeText, sinceText } from "./time.ts";

type Code = WaitingCause["code"];

export const GATE_WORDS = {
  RUN_AT: { label: "Run time", passed: "its run time has come", notApplicable: "no run time set" },
  VERSION_ORDER: {
    label: "Version order",
    passed: "no smaller version is open on its resources",
    notApplicable: "no version set",
  },
  RUN_LIMIT: { label: "Run limit", passed: "its run has a free slot", notApplicable: "not part of a run" },
  RESOURCE_BUSY: { label: "Resource", passed: "free for it", notApplicable: "names no resource" },
} as const satisfies Record<Code, { label: string; passed: string; notApplicable: string }>;

/** Short labels of the codes by which waiting task runs are counted. */
export const WAITING_LABEL = {
  RUN_AT: "scheduled for later",
  VERSION_ORDER: "lower version first",
  RUN_LIMIT: "run at its parallel limit",
  RESOURCE_BUSY: "resource in use by another task",
  NOT_EVALUATED: "not looked at yet",
} as const satisfies Record<Code | "NOT_EVALUATED", string>;

export interface Moment {
  /** When the answer was computed, by the database's clock. */
  readonly now: string;
  readonly look: Look;
}

/** What is true: `database "orders" is in use by another task`. */
export function causeSentence(cause: WaitingCause, { now, look }: Moment): string {
  switch (cause.code) {
    case "RUN_AT":
      return `it is scheduled for ${clockText(cause.runAt, now, look)} (${relativeText(cause.runAt, now)})`;
    case "VERSION_ORDER":
      return `version ${cause.blockerVersion} comes before ${cause.version} on ${quoted(cause.resource)}`;
    case "RUN_LIMIT":
      return `its run is at its parallel limit (${cause.active} of ${cause.limit})`;
    case "RESOURCE_BUSY":
      return resourceSentence(cause);
  }
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
