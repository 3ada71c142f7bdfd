/**
 * Two transactions, and every way in which one of them can come between two statements of the other: the first
 * is stopped before each of its statements in turn, the second acts until it is done or waits for a lock, the
 * first goes on. Whatever the order, neither fails, no invariant breaks, and everything comes to its end.
 *
 * What each pair must come to, row by row, is said by the tests that docs/proof.md names beside it.
 */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import {
  type Act,
  cancel,
  changeLimit,
  FAILURE,
  joinAsWorker,
  promote,
  rescue,
  SUCCESS,
  type Worker,
} from "../../test/acts.ts";
import { openFixture } from "../../test/fixture.ts";
import { enqueueScene, SCENE_KINDS, type Scene } from "../../test/scene.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import {
  holdsAreWhatIsActive,
  runningIsOwned,
  runsEndOnce,
  waitingIsPending,
} from "../store/invariants/active-sets.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

let scenes: number;
let scheduler: ManualScheduler;
let one: SteppedPool;
let other: SteppedPool;
beforeEach(async () => {
  scenes = 0;
  scheduler = await box.scheduler({ tasks: SCENE_KINDS, slots: 100 });
  one = box.pool("first");
  other = box.pool("second");
});
afterEach(box.clear);

interface WorkedScene extends Scene {
  readonly worker: Worker;
}

async function newScene(): Promise<WorkedScene> {
  scenes += 1;
  const scene = await enqueueScene(scheduler, scenes);
  return { ...scene, worker: await joinAsWorker(other, scene.kind) };
}

async function promotedScene(): Promise<WorkedScene> {
  const scene = await newScene();
  await scheduler.promote();
  return scene;
}

async function runningScene(): Promise<WorkedScene> {
  const scene = await promotedScene();
  await scene.worker.claim(other);
  return scene;
}

async function abandonedScene(): Promise<WorkedScene> {
  const scene = await runningScene();
  await scene.worker.expire(other);
  return scene;
}

/** What must hold at every moment. What the stamps tell is looked at in the end. */
async function expectSetsAgree(where: string): Promise<void> {
  for (const check of [
    waitingIsPending(),
    holdsAreWhatIsActive(),
    runsEndOnce(new Date(0)),
    runningIsOwned(10_000),
  ]) {
    expect(await other.query(check), where).toEqual([]);
  }
}

async function expectAllEnds(): Promise<void> {
  await box.query("UPDATE signalbox.instance SET state = 'DEAD' WHERE boot_id <> $1", [scheduler.instanceId]);
  while ((await scheduler.rescue()) > 0);
  await scheduler.runUntilIdle();
  expect((await scheduler.list({ status: ["PENDING", "AVAILABLE", "RUNNING"] })).taskRuns).toEqual([]);
  expect(await box.value("SELECT count(*)::integer FROM signalbox.gate_wake")).toBe(0);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

type Arrange = () => Promise<readonly [Act, Act]>;

/** Answers how many gaps there were. */
async function atEveryGap(arrange: Arrange): Promise<number> {
  for (let gap = 0; ; gap += 1) {
    const [first, second] = await arrange();
    const pause = one.pauseBeforeStatement(gap);
    const firstAct = first(one);
    const isThere = await Promise.race([pause.reached.then(() => true), firstAct.then(() => false)]);
    if (!isThere) {
      pause.resume();
      return gap;
    }
    const secondAct = second(other);
    await waitUntilBlockedOrDone(box.db.client, "second", secondAct);
    pause.resume();
    // Neither fails: whom the database found in a deadlock would be told so here.
    await Promise.all([firstAct, secondAct]);
    await expectSetsAgree(`gap ${gap}`);
  }
}

async function inBothOrders(arrange: Arrange): Promise<void> {
  const there = await atEveryGap(arrange);
  const back = await atEveryGap(async () => {
    const [first, second] = await arrange();
    return [second, first];
  });
  // Otherwise nothing came between anything.
  expect(Math.min(there, back)).toBeGreaterThanOrEqual(2);
  await expectAllEnds();
  expect(
    await box.value("SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()"),
  ).toBe(0);
}

type PairsOf<Acts extends readonly string[]> = Acts extends readonly [
  infer First extends string,
  ...infer Others extends readonly string[],
]
  ? `${First} × ${Acts[number]}` | PairsOf<Others>
  : never;

/** Each with each and with itself. One that is missing does not compile. */
const PAIRS: Readonly<
  Record<PairsOf<readonly ["promote", "claim", "settle", "rescue", "cancel", "renew"]>, Arrange>
> = {
  "promote × promote": async () => {
    await newScene();
    return [promote, promote];
  },
  "promote × claim": async () => {
    const { worker } = await newScene();
    return [promote, worker.claim];
  },
  "promote × settle": async () => {
    const { worker } = await runningScene();
    return [promote, worker.settle(FAILURE)];
  },
  "promote × rescue": async () => {
    await abandonedScene();
    return [promote, rescue];
  },
  "promote × cancel": async () => {
    const { first } = await newScene();
    return [promote, cancel(first.taskRunId)];
  },
  "promote × renew": async () => {
    const { worker } = await newScene();
    return [promote, worker.renew];
  },
  "claim × claim": async () => {
    const { kind, worker } = await promotedScene();
    return [worker.claim, (await joinAsWorker(other, kind)).claim];
  },
  "claim × settle": async () => {
    const { kind, worker } = await runningScene();
    await scheduler.enqueue({ kind, input: "more" });
    return [worker.claim, worker.settle(FAILURE)];
  },
  "claim × rescue": async () => {
    const { worker } = await promotedScene();
    await worker.expire(other);
    return [worker.claim, rescue];
  },
  "claim × cancel": async () => {
    const { first, worker } = await promotedScene();
    return [worker.claim, cancel(first.taskRunId)];
  },
  "claim × renew": async () => {
    const { worker } = await promotedScene();
    return [worker.claim, worker.renew];
  },
  "settle × settle": async () => {
    const { first, second, worker } = await runningScene();
    return [worker.settle(SUCCESS, [first.taskRunId]), worker.settle(FAILURE, [second.taskRunId])];
  },
  "settle × rescue": async () => {
    const { worker } = await abandonedScene();
    return [worker.settle(FAILURE), rescue];
  },
  "settle × cancel": async () => {
    const { first, worker } = await runningScene();
    return [worker.settle(FAILURE), cancel(first.taskId)];
  },
  "settle × renew": async () => {
    const { worker } = await runningScene();
    return [worker.settle(FAILURE), worker.renew];
  },
  "rescue × rescue": async () => {
    await abandonedScene();
    return [rescue, rescue];
  },
  "rescue × cancel": async () => {
    const { first } = await abandonedScene();
    return [rescue, cancel(first.taskId)];
  },
  "rescue × renew": async () => {
    const { worker } = await abandonedScene();
    return [rescue, worker.renew];
  },
  "cancel × cancel": async () => {
    const { first } = await promotedScene();
    return [cancel(first.taskId), cancel(first.taskRunId)];
  },
  "cancel × renew": async () => {
    const { first, worker } = await runningScene();
    return [cancel(first.taskId), worker.renew];
  },
  "renew × renew": async () => {
    const { worker } = await runningScene();
    return [worker.renew, worker.renew];
  },
};

/** What is no step of its own in the life of a task run, and writes to the same rows. */
const BESIDE: Readonly<Record<string, Arrange>> = {
  "promote × cancel of one that is parked": async () => {
    const { third } = await promotedScene();
    return [promote, cancel(third.taskRunId)];
  },
  "promote × hand-back": async () => {
    const { worker } = await runningScene();
    return [promote, worker.reconcile];
  },
  "cancel × hand-back": async () => {
    const { first, worker } = await runningScene();
    return [cancel(first.taskId), worker.reconcile];
  },
  "rescue × hand-back": async () => {
    const { worker } = await abandonedScene();
    return [rescue, worker.reconcile];
  },
  "promote × change of a limit": async () => {
    const { runId } = await newScene();
    return [promote, changeLimit(runId, 1)];
  },
  "settle × change of a limit": async () => {
    const { runId, worker } = await runningScene();
    return [worker.settle(FAILURE), changeLimit(runId, 1)];
  },
  "rescue × change of a limit": async () => {
    const { runId } = await abandonedScene();
    return [rescue, changeLimit(runId, 1)];
  },
  "cancel × change of a limit": async () => {
    const { runId, first } = await promotedScene();
    return [cancel(first.taskId), changeLimit(runId, 1)];
  },
  "change of a limit × change of a limit": async () => {
    const { runId } = await promotedScene();
    return [changeLimit(runId, 1), changeLimit(runId, 3)];
  },
};

describe("each at every gap of the other, in both orders:", () => {
  it.each(Object.entries({ ...PAIRS, ...BESIDE }))("%s", async (_, arrange) => {
    await inBothOrders(arrange);
  });
});
