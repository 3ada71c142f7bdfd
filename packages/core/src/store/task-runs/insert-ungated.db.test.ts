/** One task by the short statement: it must not differ in anything from one of many by the long one. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
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

it("writes the same rows as the statement for many", async () => {
  const scheduler = await box.scheduler();
  // Rules that it once had have raised their number.
  await scheduler.setQueue("mail", { limit: 1 });
  await scheduler.setQueue("mail", { limit: 0 });

  const alone = await scheduler.enqueue(spec);
  const [ofMany] = (await scheduler.enqueueMany([spec, spec])).taskRuns;

  const rows = await written(alone.taskRunId);
  expect(rows).toEqual(await written(ofMany?.taskRunId ?? ""));
  expect(rows).toMatchObject({
    task: { title: "A title of its own", tags: ["a tag", "null"], input: { quoted: `"it's"`, none: null } },
    task_run: { status: "AVAILABLE", gated: false },
    ready: { queue: "mail", priority: 7 },
  });
  expect(await box.value("SELECT count(*) FROM signalbox.task_run WHERE enqueued_at = available_at")).toBe(
    "3",
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

it.each(rules)(
  "waits where its queue has %s, and does not any more when that is gone",
  async (_, set, unset) => {
    const scheduler = await box.scheduler();
    const statusOfNext = async (): Promise<string> =>
      await box.statusOf((await scheduler.enqueue(spec)).taskRunId);
    expect(await statusOfNext()).toBe("AVAILABLE");

    await set(scheduler);
    expect([await statusOfNext(), await statusOfNext()]).toEqual(["PENDING", "PENDING"]);

    await unset(scheduler);
    expect([await statusOfNext(), await statusOfNext()]).toEqual(["AVAILABLE", "AVAILABLE"]);
  },
);
