import type { InstanceView, Overview } from "@signalbox/contract";
import { expect, test } from "vitest";
import { attentionOf } from "./attention.ts";

const NOW = "2026-11-17T12:00:00.000Z";

function instance(beatAt: string, state: InstanceView["state"] = "LIVE"): InstanceView {
  const leaseUntil = new Date(Date.parse(beatAt) + 60_000).toISOString();
  return { state, beatAt, leaseUntil } as InstanceView;
}

function overview(change: Partial<Overview>): Overview {
  const base = {
    computedAt: NOW,
    timeline: 1,
    countedUpTo: 10_000,
    waiting: {},
    available: 7,
    running: 3,
    instances: [],
  };
  return { ...base, ...change };
}

test("work that nobody can do needs a person, and work that waits its turn does not", () => {
  const waiting = { NO_EXECUTOR: 2, RUN_AT: 40 };

  expect(attentionOf(overview({ waiting }), 0, Date.parse(NOW))["/tasks"]).toBe(2);
});

test("what has failed for good needs a person too", () => {
  expect(attentionOf(overview({ waiting: { NO_EXECUTOR: 2 } }), 3, Date.parse(NOW))["/tasks"]).toBe(5);
});

test("an instance that is late does, and one that beats or has left does not", () => {
  const instances = [
    instance("2026-11-17T11:59:58.000Z"),
    instance("2026-11-17T11:59:10.000Z"),
    instance("2026-11-17T11:50:00.000Z", "DEAD"),
  ];

  expect(attentionOf(overview({ instances }), 0, Date.parse(NOW))["/cluster"]).toBe(1);
});
