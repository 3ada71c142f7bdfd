/** The decisions of the benchmark that need neither its peers nor a database. */

import { describe, expect, it } from "vitest";
import { type Figure, verdictOf } from "../../bench/src/figure.ts";
import { fourGates } from "../../bench/src/four-gates.ts";
import { isHalf, restForHalf } from "../../bench/src/half-load.ts";
import { render } from "../../bench/src/render.ts";
import { seenFaults } from "../../bench/src/seen-faults.ts";

const figure: Figure = {
  scenario: "no-ops",
  contestant: "Signalbox",
  unit: "ms",
  value: 5,
  ratio: null,
  bar: null,
  notes: [],
  faults: [],
};

describe("a verdict", () => {
  it.each([
    ["≥ 5", { atLeast: 5 }, "met"],
    ["≥ 5.1", { atLeast: 5.1 }, "missed"],
    ["≤ 5", { atMost: 5 }, "met"],
    ["≤ 4.9", { atMost: 4.9 }, "missed"],
    ["< 5.1", { below: 5.1 }, "met"],
    ["< 5", { below: 5 }, "missed"],
  ] as const)("of 5 beside a bar of %s", (_, bar, verdict) => {
    expect(verdictOf({ ...figure, bar })).toBe(verdict);
  });

  it("is about the ratio where there is one", () => {
    expect(verdictOf({ ...figure, ratio: { to: "them", value: 0.9 }, bar: { atLeast: 1 } })).toBe("missed");
  });

  it("is none where nothing is asked", () => {
    expect(verdictOf(figure)).toBeNull();
  });

  it("is missed where nothing could be measured", () => {
    expect(verdictOf({ ...figure, value: Number.NaN, bar: { atMost: 9 } })).toBe("missed");
  });

  it("is void where a round was, whatever was measured and also where nothing is asked", () => {
    const faults = ["graphile-worker, round 2: 3 never ran"];

    expect(verdictOf({ ...figure, bar: { atMost: 9 }, faults })).toBe("void");
    expect(verdictOf({ ...figure, bar: { atMost: 1 }, faults })).toBe("void");
    expect(verdictOf({ ...figure, faults })).toBe("void");
    expect(render([{ ...figure, bar: { below: 9 }, faults }])).toContain(
      "| < 9 | void: graphile-worker, round 2: 3 never ran |",
    );
  });
});

describe("the table of costs", () => {
  it("adds what an enqueue costs to what the work costs", () => {
    const enqueue = { serverCpuUs: 20, nodeCpuUs: 5, walBytes: 900, statements: 0.001 };
    const work = { serverCpuUs: 30, nodeCpuUs: 25, walBytes: 500, statements: 0.08 };

    expect(render([{ ...figure, costs: { enqueue, work } }])).toContain(
      "| Signalbox | 50 (20 + 30) | 30 (5 + 25) | 1400 (900 + 500) | 0.081 (0.001 + 0.080) |",
    );
  });
});

describe("what handlers saw", () => {
  it("is right where each task was seen once, by whichever process", () => {
    expect(seenFaults([Uint8Array.of(1, 0), Uint8Array.of(0, 1)], 2, true)).toEqual([]);
  });

  it("names what never ran and what ran in two processes", () => {
    expect(seenFaults([Uint8Array.of(1, 0), Uint8Array.of(1, 0)], 2, true)).toEqual([
      "1 never ran",
      "1 ran more than once",
    ]);
  });

  it("lets the rest of a long backlog be", () => {
    expect(seenFaults([Uint8Array.of(1, 0, 0)], 3, false)).toEqual([]);
  });
});

describe("half load", () => {
  it("takes off the handler what a turn takes beside it", () => {
    // 400 lines at 2,000 a second: a turn of 200 ms. With handlers of 150 ms one took 250 ms.
    expect(restForHalf(400, 4_000, { restMs: 150, perSecond: 1_600 })).toBeCloseTo(100);
  });

  it("is from 45 to 55 %", () => {
    expect([0.44, 0.45, 0.55, 0.56].map(isHalf)).toEqual([false, true, true, false]);
  });
});

describe("the load of four gates", () => {
  const { tasks, runLimit = 0, keyLimit = 0 } = fourGates(20_000);
  const counts = (of: (task: (typeof tasks)[number]) => unknown): readonly number[] => [
    ...tasks.reduce((sums, task) => sums.set(of(task), (sums.get(of(task)) ?? 0) + 1), new Map()).values(),
  ];

  it("has each task once, on 50 runs of 20 and 100 keys of 10 that are independent of each other", () => {
    expect(new Set(tasks.map(({ n }) => n)).size).toBe(20_000);
    expect([runLimit, keyLimit]).toEqual([20, 10]);
    expect(counts(({ run }) => run)).toEqual(Array.from({ length: 50 }, () => 400));
    expect(counts(({ key }) => key)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(counts(({ run, key }) => `${run} ${key}`)).toEqual(Array.from({ length: 5_000 }, () => 4));
  });

  it("spreads the resources over all runs and keys", () => {
    expect(counts(({ resource }) => resource).length).toBeGreaterThan(1_990);
    expect(Math.max(...counts(({ resource, key }) => `${resource} ${key}`))).toBeLessThan(6);
    expect(Math.max(...counts(({ resource, run }) => `${resource} ${run}`))).toBeLessThan(6);
  });

  it("has no more than two of one version on a resource", () => {
    expect(Math.max(...counts(({ resource, version }) => `${resource} ${version}`))).toBe(2);
  });
});
