/** A claim that begins where the last one did takes nothing from anybody: queues share by weight, and the older goes first. */

import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { startIn } from "../../test/started.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { defineTask, type TaskOptions } from "../executors/define-task.ts";
import { type ClaimRequest, claimTaskRuns } from "../store/task-runs/claim.ts";
import type { Scheduler } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
const { create, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

const COUNTED = 400;

/** An instance with two slots: each of its claims is a full one. */
function instance() {
  const order: string[] = [];
  const work = defineTask<string>({ kind: "work", run: (name) => void order.push(name) });
  const scheduler = create({ tasks: [work], slots: 2, leaseMs: 60_000, beatMs: 5_000 });
  const fill = async (name: string, options: TaskOptions): Promise<void> => {
    await scheduler.enqueueMany(Array.from({ length: COUNTED }, () => work.task(name, options)));
  };
  const counted = async (): Promise<(name: string) => number> => {
    await scheduler.start();
    await waitUntil("enough have run", () => order.length >= COUNTED);
    const first = order.slice(0, COUNTED);
    return (name) => first.filter((each) => each === name).length;
  };
  return { scheduler, work, fill, counted };
}

/** All that is there now has been AVAILABLE for an hour. */
async function age(): Promise<void> {
  await box.query("UPDATE signalbox.ready SET available_at = available_at - interval '1 hour'");
}

it.each<[string, number, (old: number) => void]>([
  ["alike", 1, (old) => expect(Math.abs(old - COUNTED / 2)).toBeLessThan(80)],
  ["by weight", 9, (old) => expect(old).toBeGreaterThan(0.8 * COUNTED)],
])("two queues share %s, also where one has the older backlog", async (_, weight, expectShare) => {
  const { scheduler, fill, counted } = instance();
  await scheduler.setQueue("old", { weight });
  await fill("old", { queue: "old" });
  await age();
  await fill("new", { queue: "new" });

  expectShare((await counted())("old"));
});

it("of one priority the older go first, however many urgent ones come with the young", async () => {
  const { scheduler, work, fill, counted } = instance();
  await fill("old", { priority: 5 });
  await age();
  let isOver = false;
  const stream = async (to: Scheduler): Promise<void> => {
    while (!isOver) {
      const young = Array.from({ length: 20 }, () => work.task("young", { priority: 5 }));
      await to.enqueueMany([work.task("urgent", { priority: 0 }), ...young]);
      // So that there is not always somebody urgent.
      await wait(20);
    }
  };
  const streaming = stream(scheduler);

  const count = await counted();
  isOver = true;
  await streaming;

  expect(count("urgent")).toBeGreaterThan(0);
  expect(count("young")).toBe(0);
});

describe("a claim behind a front", () => {
  async function requestOf(freeSlots: number): Promise<ClaimRequest> {
    const { instanceId } = await box.scheduler();
    return { instanceId, kinds: ["echo"], freeSlots, requestNo: 1 };
  }

  async function claim(request: ClaimRequest, fronts: ClaimRequest["fronts"] = null) {
    const { claims, offers } = await box
      .pool("worker")
      .transaction(async (tx) => await claimTaskRuns(tx, { ...request, fronts }));
    return { ids: claims.map(({ taskRunId }) => taskRunId), offers };
  }

  it("leaves what is older, of a later priority or of another queue to one that looks at everything", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([
      echo.task(1),
      echo.task(2),
      echo.task(3, { priority: 7 }),
      echo.task(4, { queue: "mail" }),
    ]);
    const [old, fresh, later, other] = taskRuns.map(({ taskRunId }) => taskRunId);
    const age =
      "UPDATE signalbox.ready SET available_at = available_at - interval '1 hour' WHERE task_run_id = $1";
    await box.query(age, [old]);
    const since = await box.value<string>(
      "SELECT to_json(available_at)::jsonb #>> '{}' FROM signalbox.ready WHERE task_run_id = $1",
      [fresh],
    );
    const request = await requestOf(10);
    const front = { kind: "echo", queue: "default", since, upTo: 5 };

    expect(await claim(request, [front])).toEqual({
      ids: [fresh],
      offers: [{ ...front, count: 1, lastPriority: 5 }],
    });
    expect(await claim(request, [front])).toEqual({
      ids: [],
      offers: [{ ...front, count: 0, lastPriority: null }],
    });
    expect(new Set((await claim(request)).ids)).toEqual(new Set([old, later, other]));
  });

  it("is told what it could have taken in each queue, whatever it took", async () => {
    const scheduler = await box.scheduler();
    const specs = [
      echo.task(1),
      echo.task(2, { priority: 7 }),
      ...[3, 4, 5].map((n) => echo.task(n, { queue: "mail" })),
    ];
    await scheduler.enqueueMany(specs);
    await box.query(
      "UPDATE signalbox.ready SET available_at = available_at - interval '1 hour' WHERE queue = 'default' AND priority = 7",
    );
    const since = await box.value<string>(
      "SELECT to_json(min(available_at))::jsonb #>> '{}' FROM signalbox.ready WHERE queue = 'default'",
    );

    const { ids, offers } = await claim(await requestOf(2));

    expect(ids).toHaveLength(2);
    expect(offers).toEqual([
      { kind: "echo", queue: "default", since, upTo: 9, count: 2, lastPriority: 7 },
      { kind: "echo", queue: "mail", since: expect.any(String), upTo: 9, count: 2, lastPriority: 5 },
    ]);
  });
});
