import type { WaitingCause } from "@signalbox/contract";
import { describe, expect, test } from "vitest";
import { createLook } from "./look.ts";
import { causeSentence, GATE_WORDS, type Moment, WAITING_LABEL } from "./waiting-cause.ts";

const NOW = "2026-11-16T12:00:30.000Z";
const MOMENT: Moment = {
  now: NOW,
  look: { ...createLook({ color: false, unicode: true }), timeZone: "UTC" },
};
const RUN = "019a8c3e-5d21-7abc-8def-000000000001";
const SINCE = "2026-11-16T12:00:24.000Z";
const SOON = "2026-11-16T12:00:42.000Z";

type Code = WaitingCause["code"];
type Example<Each extends Code> = readonly [
  cause: Omit<Extract<WaitingCause, { code: Each }>, "code">,
  sentence: string,
];
/** A new cause does not compile until its sentence is here. */
const EXAMPLES: { readonly [Each in Code]: readonly Example<Each>[] } = {
  RUN_AT: [[{ runAt: SOON }, "it is scheduled for 12:00:42 (in 12 s)"]],
  STOPPED: [
    [{ taskId: "t", stop: "APPROVAL", detail: null, since: SINCE }, "it is stopped by APPROVAL"],
    [
      { taskId: "t", stop: "APPROVAL", detail: "by two people", since: SINCE },
      "it is stopped by APPROVAL: by two people",
    ],
  ],
  PAUSED: [
    [{ scope: "queue:mail", since: SINCE, by: null, reason: null }, 'queue "mail" has been paused for 6.0 s'],
    [
      { scope: `run:${RUN}`, since: SINCE, by: "eva", reason: "flood" },
      "run 019a8c3e-5d21-7abc-8def-0000 has been paused by eva for 6.0 s: flood",
    ],
    [
      { scope: "resource:db:orders", since: SINCE, by: null, reason: "restore" },
      'resource "db:orders" has been paused for 6.0 s: restore',
    ],
    [
      { scope: "queue:mail", since: SINCE, by: null, reason: "first\n\u001b[2Jsecond" },
      'queue "mail" has been paused for 6.0 s: first··[2Jsecond',
    ],
  ],
  NO_EXECUTOR: [[{ kind: "sql" }, 'no live instance can run "sql"']],
  WINDOW: [
    [
      { scope: "queue:mail", window: "freeze", opensAt: SOON },
      'queue "mail" is frozen until 12:00:42 (in 12 s)',
    ],
    [
      { scope: "resource:orders", window: "maintenance", opensAt: null },
      'resource "orders" is outside its maintenance window',
    ],
  ],
  OUT_OF_ORDER: [
    [
      { resource: "orders", version: "1", doneVersion: "3" },
      'version 3 is DONE on "orders", so 1 is too late',
    ],
  ],
  VERSION_ORDER: [
    [
      { resource: "orders", version: "3", blocker: "x", blockerVersion: "1" },
      'version 1 comes before 3 on "orders"',
    ],
  ],
  RUN_LIMIT: [[{ runId: RUN, limit: 2, active: 2 }, "its run is at its parallel limit (2 of 2)"]],
  QUEUE_LIMIT: [[{ queue: "mail", limit: 2, active: 3 }, 'queue "mail" is at its limit (3 of 2)']],
  KEY_LIMIT: [
    [
      { concurrencyKey: "customer:7", limit: 1, active: 1 },
      'concurrency key "customer:7" is at its limit (1 of 1)',
    ],
  ],
  FAIR_SHARE: [
    [{ runId: RUN, share: 20, available: 20 }, "its run has its share of what may be claimed (20 of 20)"],
  ],
  RATE_LIMIT: [
    [
      { rate: "sms", amount: 10, perMs: 60_000, freeAt: SOON },
      'rate "sms" allows 10 in 1 min; the next may start in 12 s',
    ],
    [{ rate: "sms", amount: 1, perMs: 1_000, freeAt: null }, 'rate "sms" allows 1 in 1.0 s'],
  ],
  RESOURCE_BUSY: [
    [
      { resource: "orders", mode: "exclusive", because: "held", blockers: ["x"], reservedFor: null },
      '"orders" is in use by another task, and it wants it alone',
    ],
    [
      { resource: "orders", mode: "shared", because: "held", blockers: ["x"], reservedFor: null },
      '"orders" is in use by another task',
    ],
    [
      { resource: "orders", mode: "shared", because: "reserved", blockers: [], reservedFor: "t" },
      '"orders" is kept for a task whose instance was lost',
    ],
    [
      { resource: "orders", mode: "shared", because: "line", blockers: [], reservedFor: null },
      'others come first on "orders"',
    ],
  ],
  NOT_EVALUATED: [[{ since: SINCE }, "no pass has looked at it for 6.0 s"]],
};

describe("a waiting cause", () => {
  const rows = Object.entries(EXAMPLES).flatMap(([code, examples]) =>
    examples.map(([cause, sentence]) => [sentence, { code, ...cause } as WaitingCause] as const),
  );

  test.each(rows)("says: %s", (sentence, cause) => {
    expect(causeSentence(cause, MOMENT)).toBe(sentence);
  });

  test("has words for its gate and for its count", () => {
    expect(Object.keys(GATE_WORDS).toSorted()).toEqual(Object.keys(EXAMPLES).toSorted());
    expect(Object.keys(WAITING_LABEL).toSorted()).toEqual(Object.keys(EXAMPLES).toSorted());
  });
});
