/** What callers read goes by indexes too, however long the history is: asserted on the plans. */

import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LONG_BACKLOG } from "../../test/long-backlog.ts";
import { conditionsOf, joins, plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId, asRunId, asTaskId, asTaskRunId } from "../domain/ids.ts";
import type { Transaction } from "./database.ts";
import { readOverview } from "./instances/overview.ts";
import { readInstance } from "./instances/read.ts";
import { searchLog } from "./logs/search.ts";
import { listQueues } from "./queues/read.ts";
import { listResources, readResource } from "./resources/read.ts";
import { readRules } from "./rules/read.ts";
import { listRuns, readRun } from "./runs/read.ts";
import { BY_INDEX } from "./session.ts";
import { listAttempts } from "./task-runs/attempts.ts";
import { placeAtGate, placeAtResource } from "./task-runs/explain.ts";
import { readExplained } from "./task-runs/explained.ts";
import { listTaskRuns } from "./task-runs/read.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const RUN = asRunId("00000000-0000-7000-8000-000000000002");

beforeAll(async () => {
  await box.query(LONG_BACKLOG);
}, 60_000);

/** Statements that would be sent for a row are sent: the first answers this one. */
const plansOf = async (work: (tx: Transaction) => Promise<unknown>, first: object = {}) =>
  await plansSentBy(box.pool("planner"), async (tx) => {
    let sent = 0;
    await work({
      isTransaction: true,
      query: async <Row>(statement: Parameters<typeof tx.query<Row>>[0]) => {
        await tx.query(statement);
        sent += 1;
        return sent === 1 ? [first as Row] : [];
      },
    });
  });

it("a page of runs is found from the newest of each status on, without reading the others", async () => {
  for (const before of [undefined, RUN]) {
    const plans = await plansOf(
      async (tx) => await listRuns(tx, { status: ["RUNNING", "DONE"], ...(before && { before }) }),
      { runId: RUN },
    );

    expect(reads(plans.get("findRuns"))).toEqual(["run_by_status"]);
    expect(conditionsOf(plans.get("findRuns"), "run_by_status")).toEqual([
      expect.stringMatching(/status = .* AND \(id < /),
    ]);
    expect(new Set(reads(plans.get("loadRuns")))).toEqual(new Set(["run_pkey", "pause_pkey"]));
    for (const [name, nodes] of plans) expect(joins(nodes), name).toEqual([]);
  }
});

it("the oldest of what waits are found in the work set, from where the page before has ended", async () => {
  const filter = { status: ["PENDING"], order: "oldest", before: asTaskRunId(RUN) } as const;
  const plan = (await plansOf(async (tx) => await listTaskRuns(tx, filter))).get("findLongestWaiting");

  expect(conditionsOf(plan, "waiting_pkey")).toEqual([expect.stringContaining("task_run_id > ")]);
  expect(reads(plan)).toEqual(["waiting_pkey"]);
});

it("the tasks of one run are counted by its own entries of the index, each by its newest attempt", async () => {
  const plans = await plansOf(async (tx) => await readRun(tx, RUN), { runId: RUN });

  const nodes = plans.get("countTasksOfRun");
  expect(reads(nodes)).toEqual(["task_of_run", "task_run_one_per_attempt"]);
  expect(conditionsOf(nodes, "task_of_run")).toEqual([expect.stringContaining("run_id = ")]);
  expect(joins(nodes)).toEqual([]);
});

it("the one that is asked about is found with all that is said of it by its keys, whichever id it is", async () => {
  const nodes = (await plansOf(async (tx) => await readExplained(tx, RUN))).get("readExplained");

  expect(reads(nodes)).toEqual([
    "task_run_pkey",
    "task_run_one_per_attempt",
    "task_run_pkey",
    "task_pkey",
    "waiting_pkey",
    "task_run_result_pkey",
  ]);
  expect(joins(nodes)).toEqual([]);
});

it("a place is counted from itself and from the end of its line, not over those that have left it at the front", async () => {
  const place = { priority: 5, enqueuedUs: 1, taskRunId: asTaskRunId(RUN) };
  const plans = await plansSentBy(box.pool("planner"), async (tx) => {
    await placeAtResource(tx, "name 1", place);
    await placeAtGate(tx, { blockedOn: "QUEUE_LIMIT", blockedKey: "key 1" }, place);
  });

  for (const [name, index] of [
    ["placeAtResource", "line_pkey"],
    ["placeAtGate", "waiting_parked"],
  ] as const) {
    const nodes = plans.get(name) ?? [];
    const scans = nodes.filter((node) => node["Index Name"] !== undefined);
    expect(scans.map((node) => [node["Index Name"], node["Scan Direction"]])).toEqual([
      [index, "Backward"],
      [index, "Backward"],
    ]);
    expect(nodes.map((node) => node["Node Type"])).not.toContain("Sort");
  }
});

it("rules are read from the front of their indexes, and when they were changed by a look for each", async () => {
  const plans = await plansOf(async (tx) => await readRules(tx, 100), { now: new Date() });

  const changed = "event_store_one_per_version";
  expect(reads(plans.get("readQueues"))).toEqual(["queue_pkey (whole)", changed]);
  expect(reads(plans.get("readKeyLimits"))).toEqual(["key_limit_pkey (whole)", changed]);
  expect(reads(plans.get("readRates"))).toEqual(["rate_pkey (whole)", changed]);
  expect(reads(plans.get("readPauses"))).toEqual(["pause_pkey (whole)"]);
  expect(reads(plans.get("readWindows"))).toEqual(["start_window_pkey (whole)", changed]);
  expect(reads(plans.get("readStops"))).toEqual(["stop_pkey (whole)"]);
  expect(reads(plans.get("readReservations"))).toEqual(["hold_reserved_for (whole)"]);
  for (const [name, nodes] of plans)
    if (name !== "readClock") expect((nodes ?? [])[0]?.["Node Type"], name).toBe("Limit");
});

it("what waits is counted cause by cause, each by its own part of an index", async () => {
  const plans = await plansOf(async (tx) => await readOverview(tx, 10_000), { cause: "RUN_AT", count: "0" });

  // Each of the first three is an index of one cause alone, read up to the bound.
  expect(reads(plans.get("countWaiting"))).toEqual([
    "waiting_new (whole)",
    "waiting_due (whole)",
    "waiting_for_version (whole)",
    "waiting_parked",
  ]);
});

it("queues are counted by the fronts of indexes, each count up to its bound", async () => {
  const plans = await plansOf(async (tx) => await listQueues(tx, 100), { now: new Date() });

  expect(reads(plans.get("findRuledQueues")).toSorted()).toEqual([
    "pause_pkey",
    "queue_pkey (whole)",
    "start_window_pkey",
  ]);
  expect(reads(plans.get("countWaitingInQueues"))).toEqual(["waiting_pkey (whole)"]);
  expect(new Set(reads(plans.get("countAvailableInQueues")))).toEqual(
    new Set(["ready_pkey (whole)", "ready_pkey"]),
  );
  expect(reads(plans.get("countRunningInQueues"))).toEqual([
    "claim_batch_pkey (whole)",
    expect.stringMatching(/^outside_job_due/),
    "task_run_pkey",
  ]);
  for (const name of ["countWaitingInQueues", "countAvailableInQueues", "countRunningInQueues"])
    expect((plans.get(name) ?? []).map((node) => node["Node Type"])).toContain("Limit");
});

it("a page of resources goes from name to name, and looks at each by itself", async () => {
  const filter = { search: "na", limit: 10, after: "" };
  const plans = await plansOf(async (tx) => await listResources(tx, filter), { now: new Date() });
  const detail = await plansSentBy(
    box.pool("planner"),
    async (tx) => {
      await readResource({ ...tx, query: answered(tx) }, "name 1");
    },
    BY_INDEX,
  );

  const found = plans.get("findResourceNames");
  expect(reads(found)).toEqual([
    "resource_use_pkey",
    expect.stringMatching(/^line_/),
    "open_version_pkey",
    "pause_pkey",
    "start_window_pkey",
  ]);
  expect((found ?? [])[0]?.["Node Type"]).toBe("Limit");
  expect(reads(detail.get("loadResourceUses")).toSorted()).toEqual([
    "hold_pkey",
    expect.stringMatching(/^line_/),
    "resource_use_pkey",
  ]);
  expect(reads(detail.get("loadResourceHolders")).toSorted()).toEqual([
    "hold_pkey",
    "instance_pkey",
    "task_pkey",
    "task_run_pkey",
  ]);
  expect(reads(detail.get("readLineOfResource")).toSorted()).toEqual([
    expect.stringMatching(/^line_/),
    "task_pkey",
    "task_run_pkey",
    "waiting_pkey",
  ]);
  for (const [name, nodes] of [...plans, ...detail]) expect(joins(nodes), name).toEqual([]);
});

it("what an instance holds, the attempts of a task and the chunks of a log are found by their own entries", async () => {
  const attempts = await plansOf(
    async (tx) => await listAttempts(tx, asTaskId(RUN), { before: null, limit: 10 }),
    { taskRunId: RUN },
  );
  const log = await plansOf(
    async (tx) => await searchLog(tx, asTaskRunId(RUN), { search: "x", from: 0, limit: 10 }),
  );
  const claimed = await plansSentBy(
    box.pool("planner"),
    async (tx) => {
      await readInstance({ ...tx, query: answered(tx) }, asInstanceId(RUN), 10);
    },
    BY_INDEX,
  );

  expect(reads(attempts.get("findAttempts"))).toEqual(["task_run_one_per_attempt"]);
  expect(reads(log.get("readLogChunks"))).toEqual(["log_chunk_pkey"]);
  expect(reads(claimed.get("findClaimedBy"))).toEqual(["claim_batch_of_instance", "task_run_pkey"]);
});

/** Each statement is answered by a row, so that those that look at it are sent too. */
function answered(tx: Transaction): Transaction["query"] {
  return async <Row>(statement: Parameters<typeof tx.query<Row>>[0]) => {
    await tx.query(statement);
    return [{ now: new Date(), name: "name 1", instanceId: RUN, taskRunId: RUN } as Row];
  };
}
