/** Before the server knows how long a table is, it takes it for short. What is asked again and again must not go through all of it. */

import { afterAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { conditionsOf, type PlanNode, plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId, asTaskRunId } from "../domain/ids.ts";
import { promoteOnce } from "../engine/promoter.ts";
import type { Pool, Transaction } from "./database.ts";
import { takeOutsideJobs } from "./outside-jobs/take.ts";
import { IN_INDEX_ORDER } from "./session.ts";
import type { Statement } from "./sql.ts";
import { listRunning } from "./task-runs/claim.ts";
import { findOverdue } from "./task-runs/fail-overdue.ts";
import { goOnInLines } from "./task-runs/go-on.ts";
import { handOff } from "./task-runs/hand-off.ts";
import { findLost } from "./task-runs/rescue.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const INSTANCE = asInstanceId("00000000-0000-4000-8000-000000000003");

it("what looks after task runs that were claimed finds them by their ids", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany(Array.from({ length: 5_000 }, (_, n) => echo.task(n)));

  const plans = await plansSentBy(box.pool("planner"), async (tx) => {
    await findLost(tx, 100);
    await listRunning(tx, INSTANCE);
    await takeOutsideJobs(tx, { instanceId: INSTANCE, kinds: ["echo"], freeSlots: 100, requestNo: 1 });
    await findOverdue(tx, 100);
  });

  for (const [name, nodes] of plans) {
    const read = reads(nodes);
    expect(read, name).toContain("task_run_pkey");
    expect(read, name).not.toContain("task_run_pkey (whole)");
    expect(read, name).not.toContain("task_pkey (whole)");
  }
});

it("a pass that looks for what nobody runs takes the first of it, without sorting all that lies there", async () => {
  // By what the server knows, there are a few of each of many kinds.
  await box.query(`
    INSERT INTO signalbox.ready (kind, priority, task_run_id)
    SELECT 'kind ' || n % 400, 5, gen_random_uuid() FROM generate_series(1, 40000) AS n;
    ANALYZE signalbox.ready`);
  const pool = box.pool("planner");
  const plans = new Map<string, readonly PlanNode[]>();
  // Every statement answers nothing but the lock: the pass does not come to its end, but to this statement.
  const underLock: Pool["transaction"] = async (work, first) => {
    const sent = await plansSentBy(
      pool,
      async (tx) => {
        const query = async <Row>(statement: Statement<Row>): Promise<Row[]> => {
          await tx.query(statement);
          return statement.name === "tryGateLock" ? [{ locked: true } as Row] : [];
        };
        await work({ isTransaction: true, query }).catch(() => {});
      },
      first,
    );
    for (const [name, nodes] of sent) plans.set(name, nodes);
    throw new Error("Only its plans are looked at");
  };
  const request = { pool: { ...pool, transaction: underLock }, batchSize: 100, straysToo: true };

  await expect(promoteOnce(request)).rejects.toThrow("Only its plans are looked at");

  const types = (plans.get("leaveReadyStray") ?? []).map((node) => node["Node Type"]);
  expect(types).toContain("LockRows");
  expect(types).not.toContain("Sort");
});

const HANDING_ON: Readonly<Record<string, (tx: Transaction) => Promise<unknown>>> = {
  handOff: async (tx) => await handOff(tx, [asTaskRunId(INSTANCE)]),
  goOnInLines: async (tx) =>
    await goOnInLines(tx, {
      instanceId: INSTANCE,
      kinds: ["echo"],
      taskRunIds: [asTaskRunId(INSTANCE)],
      claimNo: 1,
      requestNo: 1,
    }),
};

it.each(Object.keys(HANDING_ON))(
  "a resource is handed on by who held it and by its name, also where the server takes holds for none: %s",
  async (name) => {
    await box.query(`
      INSERT INTO signalbox.hold (scope, slot, task_run_id)
      SELECT 'resource:${name} ' || n, 0, gen_random_uuid() FROM generate_series(1, 3000) AS n;
      UPDATE pg_class SET reltuples = 0, relpages = 100 WHERE oid = 'signalbox.hold'::regclass`);

    const plan = (
      await plansSentBy(box.pool("planner"), async (tx) => await HANDING_ON[name]?.(tx), IN_INDEX_ORDER)
    ).get(name);

    // Who holds it, and what else.
    for (const condition of conditionsOf(plan, "hold_of_task_run"))
      expect(condition).toContain("task_run_id = ");
    expect(conditionsOf(plan, "hold_of_task_run")).toContainEqual(
      expect.stringContaining("task_run_id = ANY"),
    );
    expect(conditionsOf(plan, "hold_pkey")).toEqual([expect.stringContaining("scope = ")]);
  },
);
