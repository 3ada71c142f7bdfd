/** One sentence for each reason why nobody is at work on a task run that no gate holds. */

import type { UnattendedCause } from "@signalbox/contract";
import { quoted } from "./task-name.ts";
import { relativeText } from "./time.ts";

type Code = UnattendedCause["code"];
type Sentences = {
  readonly [Each in Code]: (cause: Extract<UnattendedCause, { code: Each }>, now: string) => string;
};

const BACK_TO_PENDING = "the next promotion pass sends it back to pending";

const SENTENCES: Sentences = {
  NOT_CLAIMED: ({ freeSlots }) =>
    `nobody has claimed it yet, ${freeSlots} ${freeSlots === 1 ? "slot is" : "slots are"} free`,
  NO_FREE_SLOT: ({ instances }) =>
    `nobody has claimed it, ${instances} of ${instances} instances have no free slot`,
  NO_EXECUTOR: ({ kind }) => `no live instance can run ${quoted(kind)}`,
  RULES_CHANGED: ({ queue }) => `the rules of queue ${quoted(queue)} have changed since, ${BACK_TO_PENDING}`,
  WINDOW_CLOSED: ({ closedAt }, now) =>
    `its window closed ${relativeText(closedAt, now)}, ${BACK_TO_PENDING}`,
  NOT_POLLED: ({ pollAt, deadline }, now) =>
    `it goes on outside, poll due ${relativeText(pollAt, now)}, deadline ${relativeText(deadline, now)}`,
  NO_POLLER: ({ kind, deadline }, now) =>
    `it goes on outside, and no live instance can poll ${quoted(kind)} or end it, deadline ${relativeText(deadline, now)}`,
  LEASE_OVER: ({ leaseUntil }, now) =>
    leaseUntil === null
      ? "its instance is gone, and it waits to be rescued"
      : `the lease of its instance ended ${relativeText(leaseUntil, now)}, and it waits to be rescued`,
  NOT_IN_WORK_SET: ({ workSet }) =>
    `its row is missing in ${quoted(workSet)}, so nobody finds it: a broken invariant, please report it`,
};

export function unattendedSentence<Each extends Code>(
  cause: Extract<UnattendedCause, { code: Each }>,
  now: string,
): string {
  const sentence: (cause: Extract<UnattendedCause, { code: Each }>, now: string) => string =
    SENTENCES[cause.code as Each];
  return sentence(cause, now);
}
