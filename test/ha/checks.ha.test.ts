/** The checks of this tier, each on a violation made for it and on a story without one. */

import { createScheduler, exclusive } from "@signalbox/core";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { drain, findLeftovers, findLostTasks, readLeftovers } from "./drain.ts";
import { HoldingWatch, type Observation } from "./holding-watch.ts";
import { findBrokenKeys } from "./load-keys.ts";
import { OpenGateWatch } from "./open-gate-watch.ts";
import { isOutage, tellsOutage } from "./outage.ts";
import { randomFrom } from "./random.ts";
import { requireTaken } from "./sometimes.ts";
import {
  findDecreasingFences,
  findDoubleEffects,
  findSharedNumbers,
  findUnfoundedDone,
  parseTrace,
  type TraceLine,
} from "./trace.ts";
import { describeReport } from "./watch.ts";

function line(fields: Partial<TraceLine>): TraceLine {
  return { us: 1, taskRunId: "a", attempt: 1, claimNo: 7, pid: 100, what: "effect", ...fields };
}

describe("S16", () => {
  it("finds a claim that took effect in two processes", () => {
    const trace = [line({ pid: 100 }), line({ pid: 200 })];

    expect(findDoubleEffects(trace)).toEqual([
      "S16: task run a under claim 7 took effect in processes 100 and 200",
    ]);
  });

  it("finds a claim that took effect twice in one process", () => {
    expect(findDoubleEffects([line({}), line({ us: 2 })])).toEqual([
      "S16: task run a under claim 7 took effect 2 times in process 100",
    ]);
  });

  it("says nothing of two claims of one task run, nor of the start and end around an effect", () => {
    const trace = [
      line({ what: "start" }),
      line({}),
      line({ what: "end" }),
      line({ claimNo: 8, pid: 200 }),
      line({ taskRunId: "b", pid: 300 }),
    ];

    expect(findDoubleEffects(trace)).toEqual([]);
  });
});

describe("S3", () => {
  it("finds a claim number that two processes have", () => {
    const trace = [line({ taskRunId: "a", pid: 100 }), line({ taskRunId: "b", pid: 200 })];

    expect(findSharedNumbers(trace)).toEqual(["S3: claim number 7 was given to processes 100 and 200"]);
  });

  it("says nothing of several task runs that one process claimed together", () => {
    const trace = [line({ taskRunId: "a" }), line({ taskRunId: "b" }), line({ claimNo: 8, pid: 200 })];

    expect(findSharedNumbers(trace)).toEqual([]);
  });
});

describe("what is DONE was done", () => {
  const done = [{ taskRunId: "a", claimNo: 7, pid: 100 }];

  it("finds a task run without an effect under its claim", () => {
    expect(findUnfoundedDone(done, [line({ claimNo: 6 }), line({ what: "end" })])).toEqual([
      "task run a under claim 7 is DONE without an effect",
    ]);
  });

  it("finds an effect of a process that is not its owner's", () => {
    expect(findUnfoundedDone(done, [line({ pid: 200 })])).toEqual([
      "task run a under claim 7 is DONE by process 100, its effect is of 200",
    ]);
  });

  it("says nothing where the owner has done it", () => {
    expect(findUnfoundedDone(done, [line({})])).toEqual([]);
  });
});

describe("S17", () => {
  const accepted = [
    { taskRunId: "a", claimNo: 7, resources: ["orders"] },
    { taskRunId: "b", claimNo: 9, resources: ["orders", "users"] },
  ];
  const [older, newer] = [line({ taskRunId: "a", claimNo: 7 }), line({ taskRunId: "b", claimNo: 9 })];

  it("finds an effect under a smaller number than one before it on the same resource, whatever their clocks say", () => {
    expect(findDecreasingFences(accepted, [newer, { ...older, us: 0 }])).toEqual([
      "S17: on orders task run a under claim 7 took effect after claim 9",
    ]);
  });

  it("says nothing where they rise, of other resources, and of what was not accepted", () => {
    expect(findDecreasingFences(accepted, [{ ...older, us: 2 }, newer])).toEqual([]);
    const elsewhere = [{ taskRunId: "a", claimNo: 7, resources: ["mail"] }, ...accepted.slice(1)];
    expect(findDecreasingFences(elsewhere, [newer, older])).toEqual([]);
    expect(findDecreasingFences(accepted.slice(1), [newer, older])).toEqual([]);
    expect(findDecreasingFences(accepted, [{ ...newer, what: "start" }, older])).toEqual([]);
  });
});

describe("a trace", () => {
  it("is read line by line", () => {
    const lines = [line({}), line({ what: "end" })];

    expect(parseTrace(lines.map((each) => `${JSON.stringify(each)}\n`).join(""))).toEqual(lines);
  });

  it.each(['{"us":1}\n{"us":', '{"us":1}{"us":2}\n'])("that is torn proves nothing: %s", (text) => {
    expect(() => parseTrace(text)).toThrow("torn");
  });
});

describe("S24", () => {
  const row = { taskRunId: "a", claimNo: 7, instanceId: "x" };
  const seen = (beatAt: string, holding: Readonly<Record<string, number>> | null): Observation => ({
    running: [{ ...row, beatAt }],
    holding: new Map(holding === null ? [] : [["x", holding]]),
  });
  const afterAllOf = (observations: readonly Observation[]): readonly string[] => {
    const watch = new HoldingWatch();
    for (const observation of observations) watch.observe(observation);
    return watch.violations;
  };

  it("finds a row that its owner has not held for more than two beats", () => {
    const observations = ["0", "1", "2", "3"].map((beatAt) => seen(beatAt, {}));

    expect(afterAllOf(observations)).toEqual([
      "S24: task run a is RUNNING under claim 7 of x, which has not held it for 3 beats",
    ]);
    expect(afterAllOf(observations.slice(1))).toEqual([]);
  });

  it("finds a row that its owner holds under another claim", () => {
    expect(afterAllOf(["0", "1", "2", "3"].map((beatAt) => seen(beatAt, { a: 6 })))).toHaveLength(1);
  });

  it("counts beats, not looks", () => {
    expect(afterAllOf(["0", "0", "1", "1", "1", "2", "2"].map((beatAt) => seen(beatAt, {})))).toEqual([]);
  });

  it("begins anew when the owner held it in between", () => {
    const observations = [seen("0", {}), seen("1", {}), seen("2", { a: 7 }), seen("3", {}), seen("4", {})];

    expect(afterAllOf(observations)).toEqual([]);
  });

  it("says nothing of an owner that does not answer, and counts what it compared", () => {
    const watch = new HoldingWatch();
    for (const beatAt of ["0", "1", "2", "3"]) watch.observe(seen(beatAt, null));
    watch.observe(seen("4", { a: 7 }));

    expect(watch.violations).toEqual([]);
    expect(watch.compared).toBe(1);
  });
});

describe("L4", () => {
  const afterAllOf = (looks: readonly (readonly [number, boolean | null])[]): readonly string[] => {
    const watch = new OpenGateWatch(1_000);
    for (const [nowMs, blocked] of looks) {
      watch.observe(blocked === null ? [] : [{ taskRunId: "a", blocked }], nowMs);
    }
    return watch.violations;
  };

  it("finds somebody who waits although every gate has long been open", () => {
    expect(
      afterAllOf([
        [0, true],
        [500, false],
        [1_500, false],
      ]),
    ).toEqual(["L4: task run a waits, and every gate has been open for 1000 ms"]);
  });

  it("says nothing of somebody whose gates closed again, or who went on", () => {
    const closedAgain = [0, 600, 1_200, 1_800].map((nowMs) => [nowMs, nowMs === 600] as const);
    expect(afterAllOf(closedAgain)).toEqual([]);
    expect(
      afterAllOf([
        [0, false],
        [900, false],
        [1_800, null],
      ]),
    ).toEqual([]);
  });
});

describe("S15", () => {
  it("finds a task that was answered as enqueued and is not there", () => {
    expect(findLostTasks(["a", "b"], new Set(["b", "c"]))).toEqual([
      "S15: task run a was answered as enqueued and is not there",
    ]);
  });
});

describe("S15 of idempotency keys", () => {
  const nothingLost = new Set<string>();

  it("finds a key that enqueued two tasks", () => {
    const there = [
      { key: "k", taskRunId: "a" },
      { key: "k", taskRunId: "b" },
    ];

    expect(findBrokenKeys(new Map(), there, nothingLost)).toEqual(["S15: the key k enqueued 2 tasks: a, b"]);
  });

  it("finds an answer that names another task than the one that is there", () => {
    expect(findBrokenKeys(new Map([["k", ["a", "b"]]]), [{ key: "k", taskRunId: "a" }], nothingLost)).toEqual(
      ["S15: the key k was answered with b, which it did not enqueue"],
    );
  });

  it("finds an answer to which there is no task", () => {
    expect(findBrokenKeys(new Map([["k", ["a"]]]), [], nothingLost)).toHaveLength(1);
  });

  it("says nothing of a key that is always answered the same, or whose task a failover has lost", () => {
    expect(findBrokenKeys(new Map([["k", ["a", "a"]]]), [{ key: "k", taskRunId: "a" }], nothingLost)).toEqual(
      [],
    );
    expect(
      findBrokenKeys(new Map([["k", ["a", "b"]]]), [{ key: "k", taskRunId: "b" }], new Set(["a"])),
    ).toEqual([]);
  });
});

describe("an inconclusive trial", () => {
  it("fails and names the path that was not taken", () => {
    expect(() => requireTaken({ rescued: 3, refused: 0 })).toThrow(
      "Inconclusive: refused never happened, so nothing was shown about it (seen: rescued 3, refused 0)",
    );
  });

  it("is none where every path was taken", () => {
    expect(() => requireTaken({ rescued: 3, refused: 1 })).not.toThrow();
  });
});

describe("a report of invariants", () => {
  it("counts what was not checked as found", () => {
    const report = { violations: [{ property: "S6", detail: "two at once" }], notChecked: ["S8: no stamps"] };

    expect(describeReport(report)).toEqual(["S6: two at once", "not checked: S8: no stamps"]);
  });
});

describe("an outage", () => {
  it("is a connection that is gone or refused", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

    expect(isOutage(refused)).toBe(true);
    expect(isOutage(new AggregateError([refused, refused]))).toBe(true);
    expect(isOutage(new Error("told by the library", { cause: refused }))).toBe(true);
    expect(isOutage(Object.assign(new Error("shut down"), { code: "57P01" }))).toBe(true);
    expect(isOutage(new Error("Connection terminated unexpectedly"))).toBe(true);
  });

  it("is not a mistake that the database has found", () => {
    expect(isOutage(Object.assign(new Error("deadlock detected"), { code: "40P01" }))).toBe(false);
    expect(isOutage(new AggregateError([new Error("no")]))).toBe(false);
    expect(isOutage(new TypeError("undefined is not a function"))).toBe(false);
    expect(tellsOutage({ code: "23505", message: "duplicate key value violates unique constraint" })).toBe(
      false,
    );
    expect(tellsOutage({ code: null, message: "Query read timeout" })).toBe(false);
  });
});

describe("random numbers", () => {
  it("come again with the seed, whatever else was drawn", () => {
    const draw = (seed: number): readonly number[] => {
      const random = randomFrom(seed);
      const load = random.fork("load");
      random.next();
      return [load.next(), load.between(1, 1_000), random.fork("load").next()];
    };

    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7)[0]).toBe(draw(7)[2]);
  });
});

describe("a deal", () => {
  it("gives each once before it gives one again, and the same until it was played", () => {
    const deal = randomFrom(7).deal(["a", "b", "c"]);
    const round = (): readonly string[] =>
      [1, 2, 3].map(() => {
        const item = deal.next();
        expect(deal.next()).toBe(item);
        deal.played();
        return item;
      });

    expect(round().toSorted()).toEqual(["a", "b", "c"]);
    expect(round().toSorted()).toEqual(["a", "b", "c"]);
  });
});

describe("what is left over", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase(inject("adminUrl"));
  });
  afterAll(async () => await database?.drop());

  it("is found wherever it is, and nothing where all has ended", async () => {
    const left = async (): Promise<readonly string[]> => findLeftovers(await readLeftovers(database.client));
    const scheduler = createScheduler({ databaseUrl: database.url });
    expect(await left()).toEqual([]);

    const versioned = { resources: [exclusive("db")], version: "1" };
    await scheduler.enqueueMany([{ kind: "work" }], { run: { title: "open" } });
    const gated = await scheduler.enqueue({ kind: "work", ...versioned });
    const free = await scheduler.enqueue({ kind: "work" });

    expect(await left()).toEqual([
      "3 in open task runs",
      "1 in open runs",
      "2 in waiting",
      "1 in ready",
      "1 in open_version",
    ]);

    await scheduler.cancel(gated.taskRunId);
    await scheduler.cancel(free.taskRunId);
    await database.client.query(`
      INSERT INTO signalbox.hold (scope, slot, task_run_id) VALUES ('resource:db', 0, gen_random_uuid());
      INSERT INTO signalbox.resource_use VALUES ('db', 1, 0);
      INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
      VALUES (1, gen_random_uuid(), 1, '{}')`);

    const woken = expect.stringMatching(/^\d+ in gate_wake$/) as string;
    expect(await left()).toEqual([
      "1 in open task runs",
      "1 in open runs",
      "1 in waiting",
      "1 in hold",
      "1 in resources in use",
      woken,
      "1 in claim_batch",
    ]);
    await scheduler.stop();
  });

  it("stands still where nobody will ever look at it, and not while it can be claimed", async () => {
    await database.clear();
    const scheduler = createScheduler({ databaseUrl: database.url });
    const patience = { withinMs: 300, standsStillMs: 100 };
    await scheduler.enqueue({ kind: "work", resources: [exclusive("db")] });
    await expect(drain(database.client, patience)).rejects.toThrow(
      "Nothing moves any more: 1 in open task runs",
    );

    await scheduler.enqueue({ kind: "work" });
    await expect(drain(database.client, patience)).rejects.toThrow("Not within 0.3 s: everything has ended");

    await database.clear();
    await drain(database.client, patience);
    await scheduler.stop();
  });
});
