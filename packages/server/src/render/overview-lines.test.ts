import type { InstanceView, Overview } from "@signalbox/contract";
import { expect, test } from "vitest";
import { PLAIN_LOOK } from "./look.ts";
import { overviewLines } from "./overview-lines.ts";

const NOW = "2026-11-16T12:00:30.000Z";

test("instances, what waits by cause, what runs", () => {
  const lines = overviewLines(
    overview({
      waiting: { RUN_AT: 1, RUN_LIMIT: 3 },
      available: 2,
      running: 1,
      instances: [instance({ name: "inst-b", running: 1 }), instance({ name: "inst-a" })],
    }),
    [],
    PLAIN_LOOK,
  );

  expect(lines).toEqual([
    "INSTANCE  STATE  BEAT       SLOTS  STARTED",
    "inst-a    live   0.4 s ago  0/4    30 s ago",
    "inst-b    live   0.4 s ago  1/4    30 s ago",
    "",
    "◷ pending  4",
    "     3  RUN_LIMIT  run at its parallel limit",
    "     1  RUN_AT     scheduled for later",
    "▷ available  2",
    "● running  1",
  ]);
});

test("a count that stopped at its bound says so", () => {
  const facts = {
    timeline: 1,
    countedUpTo: 100,
    waiting: { RUN_AT: 100, RUN_LIMIT: 3 },
    available: 100,
    running: 99,
  };

  expect(overviewLines(overview(facts), [], PLAIN_LOOK).slice(2)).toEqual([
    "◷ pending  103+",
    "  100+  RUN_AT     scheduled for later",
    "     3  RUN_LIMIT  run at its parallel limit",
    "▷ available  100+",
    "● running  99",
  ]);
});

test.each<[string, Partial<InstanceView>]>([
  ["live", {}],
  ["late", { beatAt: "2026-11-16T12:00:28.400Z", leaseUntil: "2026-11-16T12:00:31.400Z" }],
  ["silent", { beatAt: "2026-11-16T12:00:26.000Z", leaseUntil: "2026-11-16T12:00:29.000Z" }],
  ["draining", { state: "DRAINING" }],
  ["draining", { drainRequest: { since: NOW, by: "ann", reason: null } }],
  ["lost", { state: "DEAD" }],
  ["left", { state: "DEAD", leftAt: NOW }],
])("an instance is %s", (word, facts) => {
  const [, row] = overviewLines(overview({ instances: [instance(facts)] }), [], PLAIN_LOOK);

  expect(row?.split(/ +/)[1]).toBe(word);
});

test("without an instance, that is what there is to say", () => {
  const gone = instance({ state: "DEAD", beatAt: "2026-11-16T11:00:00.000Z" });

  expect(overviewLines(overview({ instances: [gone] }), [], PLAIN_LOOK)[0]).toBe(
    "No instance is live: nothing is promoted or run.",
  );
});

function overview(facts: Partial<Overview>): Overview {
  return {
    computedAt: NOW,
    timeline: 1,
    countedUpTo: 10_000,
    waiting: {},
    available: 0,
    running: 0,
    instances: [],
    ...facts,
  };
}

function instance(facts: Partial<InstanceView>): InstanceView {
  return {
    instanceId: "1",
    name: "inst-a",
    state: "LIVE",
    kinds: ["report"],
    slots: 4,
    running: 0,
    startedAt: "2026-11-16T12:00:00.000Z",
    beatAt: "2026-11-16T12:00:29.600Z",
    leaseUntil: "2026-11-16T12:00:32.600Z",
    leftAt: null,
    drainRequest: null,
    ...facts,
  };
}
