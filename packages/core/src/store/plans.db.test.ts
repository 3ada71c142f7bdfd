/**
 * The hot statements go by their indexes, however long the backlog and the history are. Asserted on the plan, in a
 * transaction begun as the pool begins it.
 */

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LONG_BACKLOG } from "../../test/long-backlog.ts";
import { conditionsOf, flatten, joins, plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId, asRunId, asTaskId, asTaskRunId } from "../domain/ids.ts";
import type { Transaction } from "./database.ts";
import { countAvailable, loadFreeSlots, loadTakenSlots } from "./holds/limits.ts";
import { loadRates } from "./holds/rates.ts";
import { releaseHolds } from "./holds/release.ts";
import { loadLines, loadResources } from "./holds/resources.ts";
import { takeWakes } from "./holds/wake.ts";
import { takeKey } from "./idempotency/keys.ts";
import { changeKeyLimit } from "./rules/limits.ts";
import { loadPauses, loadStops, loadWindows } from "./rules/load.ts";
import { findHolders } from "./rules/recall.ts";
import { countDownRuns } from "./runs/count-down.ts";
import { IN_INDEX_ORDER } from "./session.ts";
import { findNewAndDue, loadCandidates } from "./task-runs/candidates.ts";
import { claimTaskRuns, isAnyReady, listRunning } from "./task-runs/claim.ts";
import { closeVersions } from "./task-runs/close.ts";
import { demoteClosed, demoteStrays, demoteTaskRuns } from "./task-runs/demote.ts";
import { insertNextAttempts } from "./task-runs/insert-next-attempt.ts";
import { findParked, findParkedAtResources, findParkedAtVersions } from "./task-runs/parked.ts";
import { joinLines, leaveLines, parkTaskRuns, promoteTaskRuns, readOutlook } from "./task-runs/promote.ts";
import { findOutOfOrder } from "./task-runs/refuse.ts";
import { findLost } from "./task-runs/rescue.ts";
import {
  FIRST_PLACE,
  selectByIds,
  selectEnded,
  selectInRun,
  selectReady,
  selectRunning,
  selectWaiting,
} from "./task-runs/select.ts";
import { settleTaskRuns, succeedTaskRuns } from "./task-runs/settle.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const ID = asTaskRunId("00000000-0000-7000-8000-000000000001");
const RUN = asRunId("00000000-0000-7000-8000-000000000002");
const INSTANCE = asInstanceId("00000000-0000-4000-8000-000000000003");

beforeAll(async () => {
  await box.query(LONG_BACKLOG);
}, 60_000);

const plansOf = async (work: (tx: Transaction) => Promise<unknown>) =>
  await plansSentBy(box.pool("planner"), work);

describe("claim", () => {
  it("takes from ready by kind in index order and updates the task runs by their primary key", async () => {
    const request = { instanceId: INSTANCE, kinds: ["kind 1", "kind 2"], freeSlots: 100, requestNo: 1 };

    const plans = await plansOf(async (tx) => {
      await claimTaskRuns(tx, request);
      await isAnyReady(tx, request.kinds);
    });
    const nodes = plans.get("claimTaskRuns");

    expect(new Set(reads(plans.get("isAnyReady")))).toEqual(new Set(["ready_pkey", "queue_pkey"]));
    // Under older rules there may be any number: they are not passed by one by one.
    for (const name of ["claimTaskRuns", "isAnyReady"])
      expect(conditionsOf(plans.get(name), "ready_pkey"), name).toContainEqual(
        expect.stringMatching(/queue = .* AND \(rules_no = /),
      );
    expect(new Set(reads(nodes))).toEqual(
      new Set([
        "ready_pkey",
        "queue_pkey",
        "instance_pkey",
        "Tid Scan ready",
        "task_run_pkey",
        "task_pkey",
        "waiting_parked",
      ]),
    );
    expect(joins(nodes)).toEqual([]);
    // The order comes from the index: what is locked is what is taken, not the whole kind.
    const types = (nodes ?? []).map((node) => node["Node Type"]);
    const lock = types.indexOf("LockRows");
    expect(lock).toBeGreaterThan(0);
    expect(types.slice(lock, lock + 4)).not.toContain("Sort");
  });

  it("locks task runs by the list of their ids in the order of the index, and so do plain successes", async () => {
    const request = { instanceId: INSTANCE, kinds: ["kind 1"], freeSlots: 100, requestNo: 1 };

    const plans = await plansSentBy(
      box.pool("planner"),
      async (tx) => {
        await claimTaskRuns(tx, request);
        await succeedTaskRuns(tx, INSTANCE, [{ taskRunId: ID, claimNo: 1 }]);
      },
      IN_INDEX_ORDER,
    );

    for (const name of ["claimTaskRuns", "succeedTaskRuns"]) {
      const types = (plans.get(name) ?? []).map((node) => [node["Node Type"], node["Index Name"]]);
      expect(types, name).toContainEqual(["Index Scan", "task_run_pkey"]);
    }
  });

  it("chooses once, before it takes any: asked again for each row, the limit would hold for each by itself", async () => {
    const request = { instanceId: INSTANCE, kinds: ["kind 1", "kind 2"], freeSlots: 100, requestNo: 1 };

    const nodes = (await plansOf(async (tx) => await claimTaskRuns(tx, request))).get("claimTaskRuns");

    const plansOfAll = (name: string) =>
      (nodes ?? []).filter((node) => node["Subplan Name"]?.startsWith(name) === true).map(flatten);
    expect(
      plansOfAll("CTE offered")
        .flat()
        .map((node) => node["Node Type"]),
    ).toContain("LockRows");
    const choices = plansOfAll("InitPlan").filter((plan) =>
      plan.some((node) => node["CTE Name"] === "offered"),
    );
    expect(choices.map(([top]) => top?.["Node Type"])).toContain("Limit");
  });

  it("lists what an instance runs by its batches", async () => {
    const nodes = (await plansOf(async (tx) => await listRunning(tx, INSTANCE))).get("listRunning");

    expect(reads(nodes)).toEqual([
      "claim_batch_of_instance",
      "task_run_pkey",
      "task_pkey",
      "outside_job_pkey",
    ]);
    expect(joins(nodes)).toEqual([]);
  });
});

describe("candidates", () => {
  it("finds the new and the due at the front of their indexes, without sorting", async () => {
    const nodes = (await plansOf(async (tx) => await findNewAndDue(tx, 100))).get("findNewAndDue");

    expect(reads(nodes)).toEqual(["waiting_new (whole)", "waiting_due"]);
    expect((nodes ?? []).map((node) => node["Node Type"])).not.toContain("Sort");
  });

  it("finds what is parked under a woken key by that key", async () => {
    const plans = await plansOf(async (tx) => {
      await findParkedAtVersions(tx, ["key 1", "key 2"], 32);
      await findParkedAtResources(tx, ["key 1"], 32);
      await findParked(tx, [
        { blockedOn: "QUEUE_LIMIT", blockedKey: "key 1", depth: 10 },
        { blockedOn: "PAUSED", blockedKey: "queue:mail", depth: 100 },
      ]);
      await findOutOfOrder(tx, 100);
    });

    expect(new Set(reads(plans.get("findParkedAtVersions")))).toEqual(
      new Set(["open_version_pkey", "done_version_pkey", "waiting_for_version"]),
    );
    expect(new Set(reads(plans.get("findParkedAtResources")))).toEqual(
      new Set(["waiting_parked", "line_of_task_run"]),
    );
    expect(reads(plans.get("findParked"))).toEqual(["waiting_parked"]);
    expect(new Set(reads(plans.get("findOutOfOrder")))).toEqual(
      new Set(["waiting_parked", "done_version_pkey", "task_pkey", "task_run_pkey"]),
    );
  });

  it("loads them, their limits, rates, rules and resources by primary keys", async () => {
    const plans = await plansOf(async (tx) => {
      await loadCandidates(tx, [ID]);
      await loadTakenSlots(tx, [`run:${RUN}`, "queue:queue 1", "key:customer:7"]);
      await loadFreeSlots(tx, new Map([["queue:queue 1", { limit: 9, active: 2, taken: null }]]), () => 3);
      await countAvailable(tx, [RUN]);
      await loadRates(tx, ["rate 1"], 10);
      await loadPauses(tx, ["queue:queue 1", "resource:name 1"]);
      await loadWindows(tx, ["queue:queue 1"]);
      await loadStops(tx, [asTaskId(ID)]);
      await loadResources(tx, ["name 1", "name 2"]);
    });

    expect(reads(plans.get("loadCandidates"))).toEqual(["waiting_pkey", "task_pkey"]);
    expect(new Set(reads(plans.get("loadTakenSlots")))).toEqual(
      new Set(["run_pkey", "queue_pkey", "hold_pkey"]),
    );
    expect(reads(plans.get("loadKeyLimits"))).toEqual(["key_limit_pkey"]);
    // Free slots are what lies between those that are taken: no slot is asked for by itself.
    expect(new Set(reads(plans.get("findFreeSlots")))).toEqual(new Set(["hold_pkey"]));
    const bySlot = expect.objectContaining({ "Join Type": "Anti" });
    expect(plans.get("findFreeSlots")).not.toContainEqual(bySlot);
    expect(new Set(reads(plans.get("countAvailable")))).toEqual(
      new Set(["hold_pkey", "task_run_pkey", "run_pkey"]),
    );
    expect(new Set(reads(plans.get("loadRates")))).toEqual(
      new Set(["rate_pkey", "rate_slot_pkey", "task_run_pkey"]),
    );
    expect(reads(plans.get("loadPauses"))).toEqual(["pause_pkey"]);
    expect(reads(plans.get("loadWindows"))).toEqual(["start_window_pkey"]);
    expect(reads(plans.get("loadStops"))).toEqual(["stop_pkey"]);
    expect(reads(plans.get("loadHolders"))).toEqual(["hold_pkey"]);
    expect(new Set(reads(plans.get("loadSharers")))).toEqual(new Set(["resource_use_pkey", "hold_pkey"]));
    expect(reads(plans.get("loadLowestVersions"))).toEqual(["open_version_pkey"]);
    expect(reads(plans.get("loadDoneVersions"))).toEqual(["done_version_pkey"]);
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });

  it("takes the oldest wakes and knows the next run time without reading all of them", async () => {
    const plans = await plansOf(async (tx) => {
      await takeWakes(tx, 100);
      await readOutlook(tx);
    });

    expect(reads(plans.get("takeWakes"))).toEqual(["gate_wake_pkey (whole)", "gate_wake_pkey"]);
    expect(reads(plans.get("readOutlook"))).toEqual([
      "waiting_due (whole)",
      expect.stringMatching(/^gate_wake_due/),
      "ready_closing (whole)",
      "waiting_parked",
    ]);
    for (const [name, nodes] of plans) {
      expect(
        (nodes ?? []).map((node) => node["Node Type"]),
        name,
      ).toContain("Limit");
    }
  });
});

describe("demotion", () => {
  it("finds what is outdated by kind and queue, what is closed by its end, and the rest by who holds it", async () => {
    const plans = await plansOf(async (tx) => {
      await demoteClosed(tx, 100);
      await demoteStrays(tx, 100);
      await demoteTaskRuns(tx, [ID], "PAUSED");
      await findHolders(tx, { scope: `run:${RUN}`, afterSlot: 500, toSlot: 900 }, 100);
    });

    expect(reads(plans.get("leaveReadyClosed"))).toEqual(["ready_closing", "Tid Scan ready"]);
    expect(new Set(reads(plans.get("leaveReadyStray")))).toEqual(
      new Set(["ready_pkey", "ready_pkey (whole)", "queue_pkey", "Seq Scan instance", "Tid Scan ready"]),
    );
    const outdated = expect.stringMatching(/queue = .* AND \(rules_no < /);
    expect(conditionsOf(plans.get("leaveReadyStray"), "ready_pkey")).toContainEqual(outdated);
    expect(new Set(reads(plans.get("leaveReadyNow")))).toEqual(
      new Set(["task_run_pkey", "ready_pkey", "Tid Scan ready"]),
    );
    const wholeKey = expect.stringMatching(/rules_no = .* AND \(task_run_id = /);
    expect(conditionsOf(plans.get("leaveReadyNow"), "ready_pkey")).toContainEqual(wholeKey);
    const goesOn = expect.stringMatching(/scope = .* AND \(slot > /);
    expect(conditionsOf(plans.get("findHolders"), "hold_pkey")).toEqual([goesOn]);
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });
});

describe("the limit of a group of keys", () => {
  it("finds who waits for it by one look per key, however many wait under each", async () => {
    const plans = await plansOf(async (tx) => await changeKeyLimit(tx, "customer:*", 2));

    expect(conditionsOf(plans.get("keysParked"), "waiting_parked")).toEqual([
      "(blocked_on = 'KEY_LIMIT'::text)",
      expect.stringContaining("blocked_key > "),
    ]);
    const types = (plans.get("keysParked") ?? []).map((node) => node["Node Type"]);
    expect(types.filter((type) => type === "Limit")).toHaveLength(2);
    expect(types).not.toContain("Sort");
  });
});

describe("lines", () => {
  it("are read from their front, by the name of the resource", async () => {
    const nodes = (await plansOf(async (tx) => await loadLines(tx, ["key 1", "key 2"]))).get("loadLines");

    expect(reads(nodes)).toEqual(["line_pkey", "line_of_exclusive"]);
  });
});

describe("rescue", () => {
  it("reads the batches and from there the task runs by their primary key", async () => {
    const nodes = (await plansOf(async (tx) => await findLost(tx, 100))).get("findLost");

    const read = reads(nodes);
    expect(read).toEqual(expect.arrayContaining(["task_run_pkey", "task_pkey", "instance_pkey"]));
    expect(read).not.toContain("Seq Scan task_run");
    expect(read).not.toContain("Seq Scan task");
    expect(joins(nodes)).toEqual([]);
  });
});

describe("settle", () => {
  it("goes by primary keys, and what it gives back by who held it", async () => {
    const settlement = {
      status: "DONE",
      outcome: "X",
      output: null,
      error: null,
      nextAttempt: null,
    } as const;
    const request = {
      taskRunId: ID,
      claimNo: 1,
      claimedBy: INSTANCE,
      runId: RUN,
      settlement,
      outside: false,
    };
    const plans = await plansOf(async (tx) => {
      await settleTaskRuns(tx, [request]);
      await releaseHolds(tx, [ID], []);
      await closeVersions(tx, [ID], [ID]);
      await succeedTaskRuns(tx, INSTANCE, [request]);
      await succeedTaskRuns(tx, INSTANCE, [request, { ...request, claimNo: 2 }]);
      await countDownRuns(tx, [{ runId: RUN, status: "DONE" }]);
      await insertNextAttempts(tx, [
        { taskRunId: ID, next: { delayMs: 0, interruptions: 0, keepsExclusiveHolds: false } },
      ]);
    });

    expect(reads(plans.get("settleTaskRuns"))).toEqual(["task_run_pkey"]);
    expect(reads(plans.get("succeedTaskRuns"))).toEqual(["task_run_pkey", "claim_batch_pkey"]);
    expect(reads(plans.get("succeedMixedTaskRuns"))).toEqual(["task_run_pkey"]);
    expect(reads(plans.get("closeVersions"))).toEqual(["open_version_of_task_run"]);
    expect(reads(plans.get("countDownRuns"))).toEqual(["run_pkey"]);
    expect(new Set(reads(plans.get("insertNextAttempts")))).toEqual(
      new Set(["task_run_pkey", "task_pkey", "hold_reserved_for"]),
    );
    expect(reads(plans.get("lockRuns"))).toEqual(["run_pkey"]);
    expect(new Set(reads(plans.get("releaseHolds")))).toEqual(
      new Set(["hold_of_task_run", "hold_reserved_for"]),
    );
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });
});

describe("a pass", () => {
  it("writes by primary keys", async () => {
    const promotion = { taskRunId: ID, openUntil: null };
    const plans = await plansOf(async (tx) => {
      await promoteTaskRuns(tx, [promotion]);
      await parkTaskRuns(tx, [{ taskRunId: ID, blockedOn: "RESOURCE_BUSY", blockedKey: "orders" }]);
      await joinLines(tx, [ID]);
      await leaveLines(tx, [ID]);
    });

    expect(new Set(reads(plans.get("promoteTaskRuns")))).toEqual(
      new Set(["waiting_pkey", "task_run_pkey", "queue_pkey"]),
    );
    expect(reads(plans.get("parkTaskRuns"))).toEqual(["waiting_pkey"]);
    expect(reads(plans.get("joinLines"))).toEqual(["waiting_pkey"]);
    expect(reads(plans.get("leaveLines"))).toEqual(["line_of_task_run"]);
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });
});

describe("idempotency keys", () => {
  it("are found by their primary key", async () => {
    const plans = await plansOf(async (tx) => {
      let asked = 0;
      const twice: Transaction = {
        isTransaction: true,
        query: async (statement) => {
          if (++asked > 2) throw new Error("It would ask again, as no answer is a row");
          return await tx.query(statement);
        },
      };
      await takeKey(twice, "key 1", new Uint8Array()).catch(() => {});
    });

    expect(reads(plans.get("readKey"))).toEqual(["idempotency_key_pkey"]);
  });
});

describe("bulk requests", () => {
  it("find a bite by an index, whatever they look for", async () => {
    const plans = await plansOf(async (tx) => {
      await selectByIds(tx, [ID]);
      await selectInRun(tx, RUN, FIRST_PLACE, 100);
      await selectWaiting(tx, FIRST_PLACE, 100);
      await selectReady(tx, "kind 1", FIRST_PLACE, 100);
      await selectRunning(tx, FIRST_PLACE, 100);
      await selectEnded(tx, FIRST_PLACE, ID, 100);
    });

    expect(reads(plans.get("selectByIds"))).toEqual(["task_run_pkey", "task_run_one_per_attempt"]);
    expect(reads(plans.get("selectInRun"))).toEqual(["task_of_run", "task_run_one_per_attempt"]);
    expect(reads(plans.get("selectWaiting"))).toEqual(["waiting_pkey"]);
    expect(reads(plans.get("selectReady"))).toEqual(["ready_pkey", "task_run_pkey"]);
    expect(reads(plans.get("selectRunning"))).toEqual(["claim_batch_pkey", "task_run_pkey"]);
    expect(reads(plans.get("selectEnded"))).toEqual(["task_run_pkey", "task_run_one_per_attempt"]);
    for (const [name, nodes] of plans) {
      expect(joins(nodes), name).toEqual([]);
      expect(
        (nodes ?? []).map((node) => node["Node Type"]),
        name,
      ).not.toContain("Sort");
    }
  });
});
