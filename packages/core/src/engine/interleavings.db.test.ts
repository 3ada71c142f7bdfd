/**
 * Two transactions, and every way in which one of them can come between two statements of the other: the first
 * is stopped before each of its statements in turn, the second acts until it is done or waits for a lock, the
 * first goes on. Whatever the order, neither fails, no invariant breaks, and everything comes to its end.
 */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { enqueueScene, SCENE_KINDS, type Scene } from "../../test/scene.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import type { TaskRunId } from "../domain/ids.ts";
import type { Outcome } from "../domain/settlement.ts";
import type { Pool } from "../store/database.ts";
import { joinCluster } from "../store/instances/instance.ts";
import {
  holdsAreWhatIsActive,
  runningIsOwned,
  runsEndOnce,
  waitingIsPending,
} from "../store/invariants/active-sets.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { cancelOnce } from "./canceler.ts";
import { claimOnce } from "./claimer.ts";
import { HeldClaims } from "./held-claims.ts";
import { promoteOnce } from "./promoter.ts";
import { reconcileOnce } from "./reconciler.ts";
import { rescueOnce } from "./rescuer.ts";
import { createSettler } from "./settler.ts";

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

type Act = (pool: Pool) => Promise<unknown>;
const emit = (): void => {};
const SUCCESS: Outcome = { kind: "succeeded", output: 1 };
const FAILURE: Outcome = { kind: "failed", code: "HANDLER_FAILED", message: "no", retryable: true };

const promote: Act = async (pool) => await promoteOnce({ pool, batchSize: 100 });
const rescue: Act = async (pool) => await rescueOnce({ pool, graceMs: 0, batchSize: 100, emit });
const cancel =
  (id: string): Act =>
  async (pool) =>
    await cancelOnce(pool, id, { by: null, reason: null });

/** An instance of which a test has every string in hand. */
async function join({ kind }: Scene): Promise<{
  readonly claim: Act;
  readonly settle: (outcome: Outcome, taskRunIds?: readonly TaskRunId[]) => Act;
  readonly reconcile: Act;
  readonly expire: () => Promise<void>;
}> {
  const instanceId = await joinCluster(other, { name: "worker", kinds: [kind], slots: 50, leaseMs: 60_000 });
  const mine = { instanceId, kinds: [kind] };
  const held = new HeldClaims();
  return {
    claim: async (pool) =>
      await claimOnce({ ...mine, pool, slots: 50, batchSize: 50, held, isTrusted: () => true }),
    settle: (outcome, taskRunIds) => {
      const chosen = held
        .all()
        .filter(({ claim }) => taskRunIds === undefined || taskRunIds.includes(claim.taskRunId));
      return async (pool) => {
        const settler = createSettler({ pool, batchSize: 100, emit });
        for (const each of chosen) {
          held.endExecution(each);
          settler.add(each.claim, instanceId, outcome, held);
        }
        await settler.settleOnce();
      };
    },
    // As if no answer to a claim had ever come.
    reconcile: async (pool) => await reconcileOnce({ pool, instanceId, held: new HeldClaims(), emit }),
    expire: async () => {
      await box.query("UPDATE signalbox.instance SET expires_at = clock_timestamp() WHERE boot_id = $1", [
        instanceId,
      ]);
    },
  };
}

async function newScene(): Promise<Scene> {
  scenes += 1;
  return await enqueueScene(scheduler, scenes);
}

async function promotedScene() {
  const scene = await newScene();
  await scheduler.promote();
  return scene;
}

async function runningScene() {
  const scene = await promotedScene();
  const worker = await join(scene);
  await worker.claim(other);
  return { ...scene, worker };
}

async function abandonedScene() {
  const scene = await runningScene();
  await scene.worker.expire();
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

/** Answers how many gaps there were. */
async function atEveryGap(arrange: () => Promise<readonly [Act, Act]>): Promise<number> {
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
    await Promise.all([firstAct, secondAct]);
    await expectSetsAgree(`gap ${gap}`);
  }
}

async function inBothOrders(arrange: () => Promise<readonly [Act, Act]>): Promise<void> {
  const there = await atEveryGap(arrange);
  const back = await atEveryGap(async () => {
    const [first, second] = await arrange();
    return [second, first];
  });
  // Otherwise nothing came between anything.
  expect(Math.min(there, back)).toBeGreaterThanOrEqual(2);
  await expectAllEnds();
}

describe("a cancel comes between", () => {
  it("a promotion", async () => {
    await inBothOrders(async () => {
      const { first } = await newScene();
      return [promote, cancel(first.taskRunId)];
    });
  });

  it("a claim", async () => {
    await inBothOrders(async () => {
      const scene = await promotedScene();
      const worker = await join(scene);
      return [worker.claim, cancel(scene.first.taskRunId)];
    });
  });

  it("a settlement that brings a new attempt", async () => {
    await inBothOrders(async () => {
      const { first, worker } = await runningScene();
      return [worker.settle(FAILURE), cancel(first.taskId)];
    });
  });

  it("a rescue", async () => {
    await inBothOrders(async () => {
      const { first } = await abandonedScene();
      return [rescue, cancel(first.taskId)];
    });
  });

  it("a hand-back", async () => {
    await inBothOrders(async () => {
      const { first, worker } = await runningScene();
      return [worker.reconcile, cancel(first.taskId)];
    });
  });
});

describe("a promotion comes between", () => {
  it("a settlement", async () => {
    await inBothOrders(async () => {
      const { worker } = await runningScene();
      return [worker.settle(FAILURE), promote];
    });
  });

  it("a hand-back", async () => {
    await inBothOrders(async () => {
      const { worker } = await runningScene();
      return [worker.reconcile, promote];
    });
  });
});

describe("a settlement comes between", () => {
  it("another settlement of the same run", async () => {
    await inBothOrders(async () => {
      const { first, second, worker } = await runningScene();
      return [worker.settle(SUCCESS, [first.taskRunId]), worker.settle(FAILURE, [second.taskRunId])];
    });
  });

  it("a rescue of what it settles", async () => {
    await inBothOrders(async () => {
      const { worker } = await abandonedScene();
      return [rescue, worker.settle(FAILURE)];
    });
  });
});

describe("a claim comes between", () => {
  it("another claim", async () => {
    await inBothOrders(async () => {
      const scene = await promotedScene();
      const [here, there] = [await join(scene), await join(scene)];
      return [here.claim, there.claim];
    });
  });

  it("a rescue of the instance that claims", async () => {
    await inBothOrders(async () => {
      const worker = await join(await promotedScene());
      await worker.expire();
      return [rescue, worker.claim];
    });
  });
});
