/** What makes a round of the benchmark void, by the order in which handlers began and ended. */

import { describe, expect, it } from "vitest";
import { type Calls, callFaults } from "../../bench/src/call-faults.ts";
import type { Load, LoadTask } from "../../bench/src/contestants/contestant.ts";

/** As in "+0 +1 -0 -1": 0 begins, 1 begins, 0 ends, 1 ends. */
function callsOf(story: string): Calls {
  const began = new Int32Array(4);
  const ended = new Int32Array(4);
  for (const [index, step] of story.split(" ").entries())
    (step.startsWith("+") ? began : ended)[Number(step.slice(1))] = index + 1;
  return { began, ended };
}

const tasksWith = (...gates: readonly Omit<LoadTask, "n">[]): readonly LoadTask[] =>
  gates.map((gate, n) => ({ n, ...gate }));

function faultsOf(story: string, load: Load | null = null, slots = 9): readonly string[] {
  return callFaults(callsOf(story), { slots, load });
}

describe("handlers on slots", () => {
  it("are right where as many are at work as there are slots", () => {
    expect(faultsOf("+0 +1 -0 +2 -1 -2", null, 2)).toEqual([]);
  });

  it("are too many where another begins before one has ended", () => {
    expect(faultsOf("+0 +1 +2 -0 -1 -2", null, 2)).toEqual(["3 handlers were at work at once on 2 slots"]);
  });

  it("are at work for ever where they do not end", () => {
    expect(faultsOf("+0 +1 -1 +2 -2 +3 -3", null, 1)).toEqual(["2 handlers were at work at once on 1 slots"]);
  });

  it("say nothing of what never began", () => {
    expect(faultsOf("+3 -3", null, 1)).toEqual([]);
  });
});

describe("handlers behind gates", () => {
  const limits = { runLimit: 2, keyLimit: 2 };

  it.each<[string, Omit<LoadTask, "n">]>([
    ["resource", { resource: "a" }],
    ["run", { run: 1 }],
    ["key", { key: "k" }],
  ])("of one %s are right up to its limit, and are told beyond it", (scope, gate) => {
    const load = { tasks: tasksWith(gate, gate, {}), runLimit: 1, keyLimit: 1 };

    expect(faultsOf("+0 -0 +2 +1 -2 -1", load)).toEqual([]);
    expect(faultsOf("+0 +2 +1 -0 -1 -2", load)).toEqual([
      `2 handlers were at work at once of one ${scope}, limit 1`,
    ]);
  });

  it("of a run or of a key may be as many as it has room for", () => {
    const gate = { run: 1, key: "k" };

    expect(faultsOf("+0 +1 -0 -1", { tasks: tasksWith(gate, gate), ...limits })).toEqual([]);
  });

  it("have no limit where none was given", () => {
    const gate = { run: 1, key: "k" };

    expect(faultsOf("+0 +1 -0 -1", { tasks: tasksWith(gate, gate) })).toEqual([]);
  });

  it("are right in the order of versions, two of one version in any", () => {
    const tasks = tasksWith(
      { resource: "a", version: "9" },
      { resource: "a", version: "10" },
      { resource: "a", version: "10" },
      { resource: "b", version: "1" },
    );

    expect(faultsOf("+0 -0 +2 -2 +3 -3 +1 -1", { tasks })).toEqual([]);
  });

  it("are told where they began after a larger version, however long ago that was", () => {
    const tasks = tasksWith(
      { resource: "a", version: "10" },
      { resource: "a", version: "8" },
      { resource: "a", version: "9" },
    );

    expect(faultsOf("+0 -0 +1 -1 +2 -2", { tasks })).toEqual(["2 handlers began after a larger version"]);
  });
});
