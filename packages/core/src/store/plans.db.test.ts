/**
 * The hot statements go by their indexes, however long the backlog and the history are. Asserted on the plan, in a
 * transaction begun as the pool begins it.
 */

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { asInstanceId, asRunId, asTaskRunId } from "../domain/ids.ts";
import type { Transaction } from "./database.ts";
import { releaseHolds } from "./holds/release.ts";
import { loadLines, loadResources } from "./holds/resources.ts";
import { takeWakes } from "./holds/wake.ts";
import { loadRuns } from "./runs/slots.ts";
import {
  findNewAndDue,
  findParkedAtRuns,
  findParkedAtVersions,
  loadCandidates,
} from "./task-runs/candidates.ts";
import { claimTaskRuns, listRunning } from "./task-runs/claim.ts";
import { msUntilNextRunAt } from "./task-runs/promote.ts";
import { findLost } from "./task-runs/rescue.ts";
import { settleTaskRuns } from "./task-runs/settle.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const ID = asTaskRunId("00000000-0000-7000-8000-000000000001");
const RUN = asRunId("00000000-0000-7000-8000-000000000002");
const INSTANCE = asInstanceId("00000000-0000-4000-8000-000000000003");

beforeAll(async () => {
  await box.query(`
    INSERT INTO signalbox.instance (boot_id, name, kinds, slots, expires_at)
    SELECT gen_random_uuid(), 'instance', '{}', 1, now() + interval '1 hour' FROM generate_series(1, 20);
    INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated)
    SELECT gen_random_uuid(), 'echo', 'echo', '1', 5, '{}', false FROM generate_series(1, 20000);
    INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, available_at, claim_no,
                                    claimed_at, claimed_by, finished_at, outcome, enqueued_at)
    SELECT gen_random_uuid(), id, 'echo', 5, 1, false, 'DONE', now(), 1, now(), gen_random_uuid(), now(), 'X', now()
      FROM signalbox.task;
    INSERT INTO signalbox.ready (kind, priority, task_run_id)
    SELECT 'kind ' || n % 5, n % 10, gen_random_uuid() FROM generate_series(1, 5000) AS n;
    INSERT INTO signalbox.waiting (task_run_id, task_id, kind, priority, enqueued_at, run_at, version, resources,
                                   blocked_on, blocked_key, blocked_since)
    SELECT gen_random_uuid(), gen_random_uuid(), 'echo', 5, now(), now() + n * interval '1 min', ARRAY[n], '[]',
           gate, CASE WHEN gate IS NOT NULL THEN 'key ' || n % 5 END, CASE WHEN gate IS NOT NULL THEN now() END
      FROM generate_series(1, 3000) AS n,
           unnest('{NULL,RUN_AT,VERSION_ORDER,RUN_LIMIT,RESOURCE_BUSY}'::text[]) AS gate;
    INSERT INTO signalbox.line (name, priority, enqueued_at, task_run_id, mode)
    SELECT blocked_key, priority, enqueued_at, task_run_id, 'shared'
      FROM signalbox.waiting WHERE blocked_on = 'RESOURCE_BUSY';
    INSERT INTO signalbox.hold (scope, slot, task_run_id)
    SELECT scope || n, 0, gen_random_uuid() FROM generate_series(1, 3000) AS n, unnest('{run:,resource:}'::text[]) AS scope;
    INSERT INTO signalbox.resource_use SELECT 'name ' || n, 1, 0 FROM generate_series(1, 3000) AS n;
    INSERT INTO signalbox.open_version SELECT 'name ' || n % 100, ARRAY[n], gen_random_uuid() FROM generate_series(1, 3000) AS n;
    INSERT INTO signalbox.run (id, title, open_tasks) SELECT gen_random_uuid(), 'run', 1 FROM generate_series(1, 3000);
    INSERT INTO signalbox.gate_wake (key) SELECT 'key ' || n FROM generate_series(1, 3000) AS n;
    INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
    SELECT n, (SELECT boot_id FROM signalbox.instance LIMIT 1), 1, ARRAY[gen_random_uuid()]
      FROM generate_series(1, 300) AS n;
    ANALYZE;
  `);
}, 60_000);

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plans of every statement that the work sends. Each answers nothing, so some need not send all of theirs. */
async function plansOf(
  work: (tx: Transaction) => Promise<unknown>,
): Promise<ReadonlyMap<string, readonly PlanNode[]>> {
  const plans = new Map<string, readonly PlanNode[]>();
  await box.pool("planner").transaction(async (tx) => {
    await work({
      isTransaction: true,
      query: async (statement) => {
        const [row] = await tx.query<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>({
          name: "explain",
          text: `EXPLAIN (FORMAT JSON) ${statement.text}`,
          values: statement.values,
        });
        plans.set(statement.name, row === undefined ? [] : flatten(row["QUERY PLAN"][0].Plan));
        return [];
      },
    });
  });
  return plans;
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** The indexes that are used, "(whole)" where no condition narrows them, and what is read without one. */
function reads(nodes: readonly PlanNode[] | undefined): readonly string[] {
  return (nodes ?? [])
    .filter(
      (node) =>
        node["Node Type"].includes("Scan") &&
        // The index below it says how it is read.
        node["Node Type"] !== "Bitmap Heap Scan" &&
        (node["Relation Name"] ?? node["Index Name"]) !== undefined,
    )
    .map((node) =>
      node["Index Name"] === undefined
        ? `${node["Node Type"]} ${node["Relation Name"]}`
        : `${node["Index Name"]}${node["Index Cond"] === undefined ? " (whole)" : ""}`,
    );
}

function joins(nodes: readonly PlanNode[] | undefined): readonly string[] {
  return (nodes ?? [])
    .map((node) => node["Node Type"])
    .filter((type) => type === "Hash Join" || type === "Merge Join");
}

describe("claim", () => {
  it("takes from ready by kind in index order and updates the task runs by their primary key", async () => {
    const request = { instanceId: INSTANCE, kinds: ["kind 1", "kind 2"], freeSlots: 100, requestNo: 1 };

    const nodes = (await plansOf(async (tx) => await claimTaskRuns(tx, request))).get("claimTaskRuns");

    expect(new Set(reads(nodes))).toEqual(
      new Set(["ready_pkey", "instance_pkey", "Tid Scan ready", "task_run_pkey", "task_pkey"]),
    );
    expect(joins(nodes)).toEqual([]);
    // The order comes from the index: what is locked is what is taken, not the whole kind.
    const types = (nodes ?? []).map((node) => node["Node Type"]);
    const lock = types.indexOf("LockRows");
    expect(lock).toBeGreaterThan(0);
    expect(types.slice(lock, lock + 4)).not.toContain("Sort");
  });

  it("lists what an instance runs by its batches", async () => {
    const nodes = (await plansOf(async (tx) => await listRunning(tx, INSTANCE))).get("listRunning");

    expect(reads(nodes)).toEqual(["claim_batch_of_instance", "task_run_pkey"]);
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
      await findParkedAtRuns(tx, [RUN], 100);
    });

    expect(reads(plans.get("findParkedAtVersions"))).toEqual(["waiting_for_version"]);
    expect(new Set(reads(plans.get("findParkedAtRuns")))).toEqual(
      new Set(["run_pkey", "hold_pkey", "waiting_for_run"]),
    );
  });

  it("loads them, their runs and their resources by primary keys", async () => {
    const plans = await plansOf(async (tx) => {
      await loadCandidates(tx, [ID]);
      await loadRuns(tx, [RUN], 10);
      await loadResources(tx, ["name 1", "name 2"]);
    });

    expect(reads(plans.get("loadCandidates"))).toEqual(["waiting_pkey"]);
    expect(new Set(reads(plans.get("loadRuns")))).toEqual(new Set(["run_pkey", "hold_pkey"]));
    expect(new Set(reads(plans.get("loadResources")))).toEqual(
      new Set(["hold_pkey", "resource_use_pkey", "open_version_pkey"]),
    );
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });

  it("takes the oldest wakes and knows the next run time without reading all of them", async () => {
    const plans = await plansOf(async (tx) => {
      await takeWakes(tx, 100);
      await msUntilNextRunAt(tx);
    });

    expect(reads(plans.get("takeWakes"))).toEqual(["gate_wake_pkey (whole)", "gate_wake_pkey"]);
    expect(reads(plans.get("msUntilNextRunAt"))).toEqual(["waiting_due (whole)"]);
    for (const [name, nodes] of plans) {
      expect(
        (nodes ?? []).map((node) => node["Node Type"]),
        name,
      ).toContain("Limit");
    }
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
    const request = { taskRunId: ID, claimNo: 1, claimedBy: INSTANCE, runId: RUN, settlement };
    const plans = await plansOf(async (tx) => {
      await settleTaskRuns(tx, [request]);
      await releaseHolds(tx, [ID], []);
    });

    expect(reads(plans.get("settleTaskRuns"))).toEqual(["task_run_pkey"]);
    expect(reads(plans.get("lockRuns"))).toEqual(["run_pkey"]);
    expect(new Set(reads(plans.get("releaseHolds")))).toEqual(
      new Set(["hold_of_task_run", "hold_reserved_for"]),
    );
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  });
});
