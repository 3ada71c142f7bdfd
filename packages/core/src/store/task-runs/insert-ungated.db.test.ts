/** Ungated tasks by the short statements, for one and for many: they must not differ in anything from one by the long one. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../../test/fixture.ts";
import type { TaskSpec } from "../../domain/task-spec.ts";
import type { WindowSpec } from "../../domain/window-spec.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const spec: TaskSpec = {
  ...echo.task({ quoted: `"it's"`, none: null }),
  title: "A title of its own",
  priority: 7,
  tags: ["a tag", "null"],
  queue: "mail",
  outOfOrder: true,
};

interface Written {
  readonly task: Record<string, unknown>;
  readonly task_run: Record<string, unknown>;
  readonly ready: Record<string, unknown> | null;
}

const DIFFERS = ["id", "task_id", "task_run_id", "created_at", "enqueued_at", "available_at"];

async function written(taskRunId: string): Promise<Written> {
  return await box.value<Written>(
    `SELECT json_build_object('task', to_jsonb(k) - $2::text[], 'task_run', to_jsonb(t) - $2::text[],
                              'ready', (SELECT to_jsonb(r) - $2::text[] FROM signalbox.ready AS r WHERE r.task_run_id = t.id))
       FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
      WHERE t.id = $1`,
    [taskRunId, DIFFERS],
  );
}

it("writes the same rows as the statement for all there is", async () => {
  const scheduler = await box.scheduler();
  // Rules that it once had have raised their number.
  await scheduler.setQueue("mail", { limit: 1 });
  await scheduler.setQueue("mail", { limit: 0 });

  const alone = await scheduler.enqueue(spec);
  const [ofMany] = (await scheduler.enqueueMany([spec, spec])).taskRuns;
  const [besideGated] = (await scheduler.enqueueMany([spec, { ...spec, runAt: new Date("2100-01-01") }]))
    .taskRuns;

  const rows = await written(besideGated?.taskRunId ?? "");
  expect(await written(alone.taskRunId)).toEqual(rows);
  expect(await written(ofMany?.taskRunId ?? "")).toEqual(rows);
  expect(rows).toMatchObject({
    task: { title: "A title of its own", tags: ["a tag", "null"], input: { quoted: `"it's"`, none: null } },
    task_run: { status: "AVAILABLE", gated: false },
    ready: { queue: "mail", priority: 7 },
  });
  expect(await box.value("SELECT count(*) FROM signalbox.task_run WHERE enqueued_at = available_at")).toBe(
    "4",
  );
});

it("answers each of many with its own ids, also where they look different", async () => {
  const scheduler = await box.scheduler();
  const given = ["one", "one", "two", "two", "one", "one"].map((title, n) => echo.task(n, { title }));

  const { taskRuns } = await scheduler.enqueueMany(given);

  const stored = await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.get(taskRunId)));
  expect(stored.map(({ taskId, title, input }) => ({ taskId, title, input }))).toEqual(
    given.map(({ title, input }, index) => ({ taskId: taskRuns[index]?.taskId, title, input })),
  );
});

const FREEZE: WindowSpec = { kind: "freeze", from: new Date("2020-01-01"), until: new Date("2100-01-01") };

type Change = (scheduler: ManualScheduler) => Promise<unknown>;
const rules: readonly (readonly [name: string, set: Change, unset: Change])[] = [
  [
    "a limit",
    async (s) => await s.setQueue("mail", { limit: 1 }),
    async (s) => await s.setQueue("mail", { limit: 0 }),
  ],
  ["a pause", async (s) => await s.pause({ queue: "mail" }), async (s) => await s.resume({ queue: "mail" })],
  [
    "a window",
    async (s) => await s.setWindows({ queue: "mail" }, [FREEZE]),
    async (s) => await s.setWindows({ queue: "mail" }, []),
  ],
];

type Enqueue = (scheduler: ManualScheduler, spec: TaskSpec) => Promise<string>;
const ways: readonly (readonly [name: string, enqueue: Enqueue])[] = [
  ["one", async (s, given) => (await s.enqueue(given)).taskRunId],
  ["of many", async (s, given) => (await s.enqueueMany([given, given])).taskRuns[1]?.taskRunId ?? ""],
];

describe.each(ways)("%s", (_, enqueue) => {
  it.each(rules)(
    "waits where its queue has %s, and does not any more when that is gone",
    async (_rule, set, unset) => {
      const scheduler = await box.scheduler();
      const statusOfNext = async (): Promise<string> => await box.statusOf(await enqueue(scheduler, spec));
      expect(await statusOfNext()).toBe("AVAILABLE");

      await set(scheduler);
      expect([await statusOfNext(), await statusOfNext()]).toEqual(["PENDING", "PENDING"]);

      await unset(scheduler);
      expect([await statusOfNext(), await statusOfNext()]).toEqual(["AVAILABLE", "AVAILABLE"]);
    },
  );
});

it("of many to several queues only those wait whose queue has rules", async () => {
  const scheduler = await box.scheduler();
  await scheduler.pause({ queue: "mail" });
  const given = ["default", "mail", "other", "mail"].map((queue) => ({ ...spec, queue }));

  const { taskRuns } = await scheduler.enqueueMany(given);

  expect(taskRuns.map(({ status }) => status)).toEqual(["AVAILABLE", "PENDING", "AVAILABLE", "PENDING"]);
});

it.each([
  [
    "in a transaction of the caller's",
    async (s: ManualScheduler, specs: readonly TaskSpec[]) => {
      await box.query("BEGIN");
      const { taskRuns } = await s.enqueueMany(specs, { transaction: box.db.client });
      await box.query("COMMIT");
      return taskRuns;
    },
  ],
  [
    "under a key",
    async (s: ManualScheduler, specs: readonly TaskSpec[]) =>
      (await s.enqueueMany(specs, { idempotencyKey: "once" })).taskRuns,
  ],
])("many %s wait where their queue has rules", async (_, enqueue) => {
  const scheduler = await box.scheduler();
  await scheduler.pause({ queue: "mail" });

  const taskRuns = await enqueue(scheduler, [spec, spec]);

  expect(taskRuns.map(({ status }) => status)).toEqual(["PENDING", "PENDING"]);
  expect(await box.query("SELECT FROM signalbox.waiting")).toHaveLength(2);
});
