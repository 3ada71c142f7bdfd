import type { UnattendedCause } from "@signalbox/contract";
import { expect, test } from "vitest";
import { unattendedSentence } from "./unattended.ts";

const NOW = "2026-11-16T12:00:30.000Z";
const THEN = "2026-11-16T12:00:20.000Z";
const LATER = "2026-11-16T12:01:00.000Z";

const sentences: readonly [UnattendedCause, string][] = [
  [{ code: "NOT_CLAIMED", freeSlots: 1 }, "nobody has claimed it yet, 1 slot is free"],
  [{ code: "NO_FREE_SLOT", instances: 2 }, "nobody has claimed it, 2 of 2 instances have no free slot"],
  [{ code: "NO_EXECUTOR", kind: "dbt" }, 'no live instance can run "dbt"'],
  [
    { code: "RULES_CHANGED", queue: "mail" },
    'the rules of queue "mail" have changed since, the next promotion pass sends it back to pending',
  ],
  [
    { code: "WINDOW_CLOSED", closedAt: THEN },
    "its window closed 10 s ago, the next promotion pass sends it back to pending",
  ],
  [
    { code: "NOT_POLLED", pollAt: THEN, deadline: LATER },
    "it goes on outside, poll due 10 s ago, deadline in 30 s",
  ],
  [
    { code: "NO_POLLER", kind: "dbt", deadline: THEN },
    'it goes on outside, and no live instance can poll "dbt" or end it, deadline 10 s ago',
  ],
  [
    { code: "LEASE_OVER", leaseUntil: THEN },
    "the lease of its instance ended 10 s ago, and it waits to be rescued",
  ],
  [{ code: "LEASE_OVER", leaseUntil: null }, "its instance is gone, and it waits to be rescued"],
  [
    { code: "NOT_IN_WORK_SET", workSet: "waiting" },
    'its row is missing in "waiting", so nobody finds it: a broken invariant, please report it',
  ],
];

test.each(sentences)("%o", (cause, sentence) => {
  expect(unattendedSentence(cause, NOW)).toBe(sentence);
});
