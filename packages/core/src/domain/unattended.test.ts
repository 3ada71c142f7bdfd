import { describe, expect, it } from "vitest";
import { whyUnclaimable, whyUnclaimed, whyUnpolled } from "./unattended.ts";

const NOW = new Date("2026-11-15T12:00:00.000Z");
const LATER = new Date("2026-11-15T13:00:00.000Z");

describe("an AVAILABLE task run", () => {
  it.each([
    ["is not where a claim looks", null, { code: "NOT_IN_WORK_SET", workSet: "ready" }],
    ["came under older rules", { outdated: true, closedAt: NOW }, { code: "RULES_CHANGED", queue: "mail" }],
    [
      "has a window that closed",
      { outdated: false, closedAt: NOW },
      { code: "WINDOW_CLOSED", closedAt: NOW },
    ],
    ["can be claimed", { outdated: false, closedAt: null }, null],
  ])("that %s", (_, ready, cause) => {
    expect(whyUnclaimable(ready, "mail")).toEqual(cause);
  });

  it.each([
    ["nobody knows", [], { code: "NO_EXECUTOR", kind: "echo" }],
    ["only those know who are full", [0, 0], { code: "NO_FREE_SLOT", instances: 2 }],
    ["somebody with free slots knows", [0, 2, 1], { code: "NOT_CLAIMED", freeSlots: 3 }],
  ])("whose kind %s", (_, free, cause) => {
    const claimers = free.map((freeSlots) => ({ freeSlots }));

    expect(whyUnclaimed(claimers, "echo")).toEqual(cause);
  });
});

describe("a let-go task run", () => {
  const job = { pollAt: NOW, deadline: LATER, served: true };

  it.each([
    ["is not where a poller looks", null, { code: "NOT_IN_WORK_SET", workSet: "outside_job" }],
    ["is to be polled", job, { code: "NOT_POLLED", pollAt: NOW, deadline: LATER }],
    ["nobody can poll", { ...job, served: false }, { code: "NO_POLLER", kind: "cloud", deadline: LATER }],
  ])("that %s", (_, given, cause) => {
    expect(whyUnpolled(given, "cloud")).toEqual(cause);
  });
});
