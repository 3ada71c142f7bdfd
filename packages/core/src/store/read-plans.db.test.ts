/** What callers read goes by indexes too, however long the history is: asserted on the plans. */

import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LONG_BACKLOG } from "../../test/long-backlog.ts";
import { conditionsOf, joins, plansSentBy, reads } from "../../test/query-plans.ts";
import { asRunId } from "../domain/ids.ts";
import type { Transaction } from "./database.ts";
import { readRules } from "./rules/read.ts";
import { listRuns, readRun } from "./runs/read.ts";

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

it("the tasks of one run are counted by its own entries of the index, each by its newest attempt", async () => {
  const plans = await plansOf(async (tx) => await readRun(tx, RUN), { runId: RUN });

  const nodes = plans.get("countTasksOfRun");
  expect(reads(nodes)).toEqual(["task_of_run", "task_run_one_per_attempt"]);
  expect(conditionsOf(nodes, "task_of_run")).toEqual([expect.stringContaining("run_id = ")]);
  expect(joins(nodes)).toEqual([]);
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
