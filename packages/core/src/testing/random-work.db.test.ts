/** Several instances at once do whatever comes, die, come back late and lose answers: no property breaks, and all ends. */

import { afterAll, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import type { RunId } from "../domain/ids.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ManualScheduler } from "./manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const seed = Date.now() % 2 ** 32;
let state = seed;
/** mulberry32: small, and the seed tells the whole story of one instance's choices. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
function below(limit: number): number {
  return Math.floor(random() * limit);
}
function chance(part: number): boolean {
  return random() < part;
}

const moody = defineTask({
  kind: "moody",
  run: () => {
    if (chance(0.2)) throw new Error("Not today");
    return 1;
  },
});

async function claimAndForget(scheduler: ManualScheduler): Promise<void> {
  for (const taskRunId of await scheduler.claim()) {
    const claim = scheduler.held.get(taskRunId);
    if (claim === undefined) continue;
    scheduler.held.endExecution(claim);
    scheduler.held.remove(claim.claim);
  }
}

function anySpec(): TaskSpec {
  const names = ["a", "b", "c", "d"].filter(() => chance(0.35));
  return moody.task(null, {
    priority: 3 + below(4),
    resources: names.map((name) => (chance(0.5) ? exclusive(name) : shared(name))),
    ...(names.length > 0 && chance(0.3) ? { version: `${1 + below(5)}` } : {}),
    ...(chance(0.2) ? { runAt: new Date(Date.now() + below(300)) } : {}),
    retry: { attempts: 1 + below(3), backoff: { firstMs: below(20) } },
    ...(chance(0.2) ? { onLost: "fail" } : {}),
  });
}

const runs: RunId[] = [];
const ACTIONS: readonly ((scheduler: ManualScheduler) => Promise<unknown>)[] = [
  async (scheduler) => await scheduler.enqueue(anySpec()),
  async (scheduler) => {
    const specs = Array.from({ length: 1 + below(5) }, anySpec);
    const { runId } = await scheduler.enqueueMany(specs, { run: { title: "run", limit: below(4) } });
    if (runId !== null) runs.push(runId);
  },
  async (scheduler) => await scheduler.promote(),
  async (scheduler) => await scheduler.promote(),
  async (scheduler) => {
    await scheduler.claim();
    await scheduler.execute();
  },
  async (scheduler) => await scheduler.settle(),
  async (scheduler) => await scheduler.rescue(),
  async (scheduler) => await scheduler.reconcile(),
  // Claims, and never hears of it.
  async (scheduler) => {
    const before = scheduler.held.beginRequest();
    scheduler.held.endRequest(before);
    await claimAndForget(scheduler);
    scheduler.held.loseRequest(before + 1);
  },
  // Has ended what it claimed, and a failover undoes that.
  claimAndForget,
  async (scheduler) => {
    const { taskRuns } = await scheduler.list({ status: ["PENDING", "AVAILABLE", "RUNNING"] });
    const chosen = taskRuns[below(taskRuns.length)];
    if (chosen !== undefined) await scheduler.cancel(chance(0.5) ? chosen.taskId : chosen.taskRunId);
  },
  async (scheduler) => {
    const runId = runs[below(runs.length)];
    if (runId !== undefined) await scheduler.setRunLimit(runId, below(4));
  },
  async (scheduler) => {
    const { taskRuns } = await scheduler.list({ status: ["FAILED", "CANCELED"] });
    const ids = taskRuns.filter(() => chance(0.2)).map(({ taskId }) => taskId);
    await scheduler.retryMany({ ids, status: ["FAILED", "CANCELED"] });
  },
  async (scheduler) => {
    const runId = runs[below(runs.length)];
    if (runId !== undefined)
      await (chance(0.5) ? scheduler.cancelRun(runId) : scheduler.retryMany({ runId }));
  },
];

async function live(lives: number, steps: number): Promise<void> {
  for (let life = 0; life < lives; life += 1) {
    const scheduler = await box.scheduler({ tasks: [moody], slots: 3, name: `life ${life}` });
    for (let step = 0; step < steps; step += 1) await ACTIONS[below(ACTIONS.length)]?.(scheduler);
    // What happens by chance may not happen.
    await scheduler.execute();
    await scheduler.settle();
    await scheduler.enqueueMany([moody.task(null), moody.task(null)]);
    await claimAndForget(scheduler);
    await scheduler.reconcile();
    await scheduler.enqueue(moody.task(null));
    await scheduler.claim();
    await scheduler.expireLease();
    // It is dead and does not know it: what it still writes must not count.
    for (let step = 0; step < 5; step += 1) await ACTIONS[below(ACTIONS.length)]?.(scheduler);
  }
}

it(`breaks no property and comes to its end (seed ${seed})`, async () => {
  await Promise.all([live(3, 40), live(3, 40), live(3, 40)]);

  const last = await box.scheduler({ tasks: [moody], slots: 20, name: "last" });
  const isOpen = async (): Promise<boolean> =>
    (await last.list({ status: ["PENDING", "AVAILABLE", "RUNNING"], limit: 1 })).taskRuns.length > 0;
  for (const runId of runs) await last.setRunLimit(runId, 1 + below(3));
  const giveUpAt = performance.now() + 15_000;
  while ((await isOpen()) && performance.now() < giveUpAt) {
    await last.rescue();
    await last.runUntilIdle();
  }

  expect(await isOpen()).toBe(false);
  expect(await last.checkInvariants()).toEqual({ violations: [], notChecked: [] });
  for (const table of ["gate_wake", "waiting", "line", "ready", "hold", "open_version", "claim_batch"]) {
    expect(await box.query(`SELECT * FROM signalbox.${table}`), table).toEqual([]);
  }
  // Otherwise it was no busy history.
  const outcomes = await box.query<{ outcome: string }>("SELECT DISTINCT outcome FROM signalbox.task_run");
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(
    expect.arrayContaining(["SUCCEEDED", "HANDLER_FAILED", "CANCELED", "LEASE_LOST", "END_LOST"]),
  );
});
