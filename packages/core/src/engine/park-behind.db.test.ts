/** Where many come at once, those behind a smaller version are parked by one statement: where a look would have parked them. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { plansSentBy, reads } from "../../test/query-plans.ts";
import { asTaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { parkBehindVersions } from "../store/task-runs/park-behind.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const version = (text: string, options: Partial<TaskSpec> = {}): TaskSpec =>
  echo.task(text, { version: text, resources: [exclusive("orders")], ...options });

interface Situation {
  readonly name: string;
  /** What was before. */
  readonly before?: (scheduler: ManualScheduler) => Promise<unknown>;
  /** Beside version 1 on "orders", which comes first. */
  readonly behind: TaskSpec;
  readonly parks: boolean;
}

const closed = { kind: "freeze", from: new Date(0), until: new Date("2999-01-01T00:00:00Z") } as const;
const SITUATIONS: readonly Situation[] = [
  { name: "behind one that is open", behind: version("2"), parks: true },
  { name: "of the same version", behind: version("1"), parks: false },
  { name: "on another resource", behind: version("2", { resources: [exclusive("mails")] }), parks: false },
  {
    name: "on two resources",
    behind: version("2", { resources: [exclusive("mails"), exclusive("orders")] }),
    parks: false,
  },
  { name: "stopped", behind: version("2", { stops: [{ code: "APPROVAL" }] }), parks: false },
  { name: "of a kind that nobody runs", behind: { ...version("2"), kind: "unknown" }, parks: false },
  {
    name: "in a queue that is paused",
    before: async (scheduler) => await scheduler.pause({ queue: "mail" }),
    behind: version("2", { queue: "mail" }),
    parks: false,
  },
  {
    name: "in a queue whose window is closed",
    before: async (scheduler) => await scheduler.setWindows({ queue: "mail" }, [closed]),
    behind: version("2", { queue: "mail" }),
    parks: false,
  },
  {
    name: "below a version that is DONE",
    before: async (scheduler) => {
      await scheduler.enqueue(version("3"));
      await scheduler.runUntilIdle();
    },
    behind: version("2"),
    parks: false,
  },
];

async function enqueueBoth(
  scheduler: ManualScheduler,
  { before, behind }: Situation,
): Promise<readonly string[]> {
  await before?.(scheduler);
  const first = await scheduler.enqueue(version("1", { outOfOrder: true }));
  const second = await scheduler.enqueue(behind);
  return [first.taskRunId, second.taskRunId];
}

/** After as many passes as it takes. */
async function standsAfter(situation: Situation, batchSize: number): Promise<readonly unknown[]> {
  await box.clear();
  const scheduler = await box.scheduler({ tasks: [echo] });
  const ids = await enqueueBoth(scheduler, situation);
  for (let more = true; more; ) {
    const pass = await promoteOnce({ pool: box.pool("promoter"), batchSize });
    more = pass.kind === "passed" && pass.more;
  }
  return await box.query(
    `SELECT t.status, t.outcome, w.blocked_on, nullif(w.blocked_key, t.task_id::text) AS blocked_key FROM signalbox.task_run AS t
       LEFT JOIN signalbox.waiting AS w ON w.task_run_id = t.id
      WHERE t.id = ANY ($1::uuid[]) ORDER BY t.id`,
    [ids],
  );
}

it.each(SITUATIONS)("one $name is parked by it: $parks", async (situation) => {
  const scheduler = await box.scheduler({ tasks: [echo] });
  const [first = "", second = ""] = await enqueueBoth(scheduler, situation);

  const parked = await box
    .pool("promoter")
    .transaction(async (tx) => await parkBehindVersions(tx, [asTaskRunId(first), asTaskRunId(second)]));

  expect([...parked]).toEqual(situation.parks ? [second] : []);
});

it.each(SITUATIONS)("one $name stands where it would if few came", async (situation) => {
  expect(await standsAfter(situation, 2)).toEqual(await standsAfter(situation, 100));
});

it("one that goes on after a loss passes a smaller version that came later", async () => {
  const scheduler = await box.scheduler({ tasks: [echo] });
  await scheduler.enqueue(version("1"));
  const { taskRunId } = await scheduler.enqueue(version("2"));
  await box.query("UPDATE signalbox.waiting SET priority = -1 WHERE task_run_id = $1", [taskRunId]);

  const parked = await box
    .pool("promoter")
    .transaction(async (tx) => await parkBehindVersions(tx, [taskRunId]));

  expect([...parked]).toEqual([]);
});

it("finds them by their ids, and does not go through all that are new", async () => {
  const scheduler = await box.scheduler({ tasks: [echo] });
  await scheduler.enqueueMany(Array.from({ length: 2_000 }, () => version("1")));

  const plans = await plansSentBy(box.pool("planner"), async (tx) => {
    await parkBehindVersions(tx, [asTaskRunId("00000000-0000-4000-8000-000000000001")]);
  });

  const read = reads(plans.get("parkBehindVersions"));
  expect(read).toEqual(expect.arrayContaining(["waiting_pkey", "open_version_pkey", "done_version_pkey"]));
  expect(read.filter((name) => name.startsWith("waiting"))).toEqual(["waiting_pkey"]);
});
