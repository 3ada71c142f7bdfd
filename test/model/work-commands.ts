/** Bringing work, promoting, claiming, and explaining why something waits. */

import { expect } from "vitest";
import type { TaskSpec } from "../../packages/core/src/domain/task-spec.ts";
import type { WaitingCause } from "../../packages/core/src/domain/waiting-cause.ts";
import { took } from "./coverage.ts";
import { causesOf, isShut, isSmallerVersion, parkedAtResource } from "./gates.ts";
import {
  isLive,
  labelOf,
  type Model,
  type ModelInstance,
  type ModelRun,
  type ModelTask,
  type ModelTaskRun,
  queueLimit,
  rateOf,
  taskRunsOf,
} from "./model.ts";
import { addAttempt, inClaimOrder } from "./moves.ts";
import { MOST_OPEN, onePass, pendingOf, promoteAll, sweepAll } from "./passes.ts";
import { unlessLost } from "./rig.ts";
import { type Command, pick, pickInstance, type Scene } from "./scene.ts";
import { PLAIN, QUEUED_MS, STOP, type Wish } from "./steps.ts";

const FAR_AHEAD = new Date("2090-01-01");
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const enqueue: Command<"enqueue"> = async (scene, { tasks }) => await bring(scene, tasks, null);

export const enqueueRun: Command<"enqueueRun"> = async (scene, { tasks, limit }) =>
  await bring(scene, tasks, limit);

export const enqueueLargeRun: Command<"enqueueLargeRun"> = async (scene, { size }) =>
  await bring(
    scene,
    Array.from({ length: size }, () => PLAIN),
    0,
  );

async function bring(
  { rig, model, coverage }: Scene,
  wishes: readonly Wish[],
  limit: number | null,
): Promise<boolean> {
  if (pendingOf(model).length + wishes.length > MOST_OPEN) return false;
  const { runId, taskRuns } = await rig.scheduler.enqueueMany(
    wishes.map(toSpec),
    limit === null ? {} : { run: { title: "run", limit } },
  );
  const run = runId === null ? null : { runId, tasks: [], limit: limit ?? 0 };
  if (run !== null) model.runs.push(run);
  for (const [index, { taskId, taskRunId, status }] of taskRuns.entries()) {
    const task = remember(model, taskId, wishes[index] ?? PLAIN, run);
    const first = addAttempt(task, { interruptions: 0, later: task.wish.later });
    first.taskRunId = taskRunId;
    if (!isGated(task, model)) first.status = "AVAILABLE";
    if (parkBehind(first, wishes)) took(coverage, "enqueued behind a version");
    expect(status, `${labelOf(first)} as it was enqueued`).toBe(first.status);
  }
  return true;
}

function parkBehind(first: ModelTaskRun, wishes: readonly Wish[]): boolean {
  const behind = firstBehind(first.task.wish, wishes);
  if (behind === null || first.parked !== null) return false;
  first.parked = { gate: "VERSION_ORDER", key: behind };
  return true;
}

/** Where a smaller version comes with it. One that is stopped waits for that first. */
function firstBehind({ version, resources, stopped }: Wish, others: readonly Wish[]): string | null {
  const isBehind = (name: string): boolean =>
    others.some(
      (other) =>
        version !== null &&
        other.version !== null &&
        isSmallerVersion(other.version, version) &&
        other.resources.some((each) => each.name === name),
    );
  if (stopped) return null;
  return resources.map(({ name }) => name).find(isBehind) ?? null;
}

function remember(model: Model, taskId: string, wish: Wish, run: ModelRun | null): ModelTask {
  const stops = new Set(wish.stopped ? [STOP] : []);
  const number = model.tasks.length + model.pruned.length;
  const task: ModelTask = { number, taskId, wish, run, stops, attempts: [], kept: new Set(), pruned: false };
  model.tasks.push(task);
  run?.tasks.push(task);
  return task;
}

function isGated({ wish, run }: ModelTask, model: Model): boolean {
  const byItself =
    run !== null ||
    wish.resources.length > 0 ||
    wish.concurrencyKey !== null ||
    [wish.later, wish.rated, wish.stopped].includes(true);
  const scope = `queue:${wish.queue}`;
  return byItself || queueLimit(model, wish.queue) > 0 || model.paused.has(scope) || model.windows.has(scope);
}

function toSpec(wish: Wish): TaskSpec {
  const { kind, queue, priority, resources, onLost } = wish;
  const rate = rateOf(wish);
  return {
    kind,
    queue,
    priority,
    resources,
    onLost,
    ...(wish.version !== null && { version: wish.version }),
    ...(wish.outOfOrder && { outOfOrder: true }),
    ...(wish.concurrencyKey !== null && { concurrencyKey: wish.concurrencyKey }),
    ...(rate !== null && { rate }),
    ...(wish.stopped && { stops: [{ code: STOP }] }),
    ...(wish.later && { runAt: FAR_AHEAD }),
    ...(wish.timesOut && { timeouts: { queuedMs: QUEUED_MS } }),
    retry: {
      attempts: wish.attempts,
      backoff: { firstMs: wish.backsOff ? 2 * HOUR_MS : 0, factor: 1, maxMs: DAY_MS },
    },
  };
}

export const pass: Command<"pass"> = async (scene) => {
  await onePass(scene);
  return true;
};

export const promote: Command<"promote"> = async (scene) => {
  await promoteAll(scene);
  return true;
};

export const sweep: Command<"sweep"> = async (scene) => {
  await sweepAll(scene);
  return true;
};

export const claim: Command<"claim"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { instance, known } = chosen;
  const offered = offeredTo(known, scene.model);
  const claims = await instance.claim();
  const got = takenOf(
    scene.model,
    claims.map(({ taskRunId }) => taskRunId),
  );
  expectFair(got, offered, freeSlotsOf(known));
  for (const each of claims) {
    const taskRun = got.find(({ taskRunId }) => taskRunId === each.taskRunId);
    const { attempt, interruptions, deferrals } = each;
    expect({ attempt, interruptions, deferrals }, "claim").toEqual({
      attempt: taskRun?.attempt,
      interruptions: taskRun?.interruptions,
      deferrals: taskRun?.deferrals,
    });
  }
  const numbers = new Set(claims.map(({ claimNo }) => claimNo));
  if (numbers.size > 0) start(scene.model, known, got, numbers);
  for (const taskRun of got)
    known.held.set(taskRun, { claimNo: taskRun.claimNo ?? 0, told: false, handle: "none", job: null });
  return got.length > 0;
};

/** The claim commits, and its instance never hears of it. */
export const loseClaim: Command<"loseClaim"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null || freeSlotsOf(chosen.known) < 1) return false;
  const { instance, known } = chosen;
  const offered = offeredTo(known, scene.model);
  instance.loseNextAnswer();
  expect(await unlessLost(instance.claim)).toBeNull();
  const { rows } = await scene.rig.db.client.query<{ id: string; claimNo: string }>(
    `SELECT id, claim_no AS "claimNo" FROM signalbox.task_run
      WHERE status = 'RUNNING' AND claimed_by = $1 AND claim_no > $2`,
    [known.instanceId, scene.model.lastClaimNo],
  );
  const got = takenOf(
    scene.model,
    rows.map(({ id }) => id),
  );
  expectFair(got, offered, freeSlotsOf(known));
  if (got.length === 0) return false;
  start(scene.model, known, got, new Set(rows.map(({ claimNo }) => Number(claimNo))));
  took(scene.coverage, "claim answer lost");
  return true;
};

function takenOf(model: Model, ids: readonly string[]): readonly ModelTaskRun[] {
  return taskRunsOf(model).filter(({ taskRunId }) => ids.includes(taskRunId));
}

function freeSlotsOf({ slots, held }: ModelInstance): number {
  // A look at an outside job takes none.
  return slots - [...held.values()].filter(({ job }) => job === null).length;
}

function offeredTo(instance: ModelInstance, model: Model): readonly ModelTaskRun[] {
  if (!isLive(instance)) return [];
  return taskRunsOf(model).filter(
    (taskRun) =>
      taskRun.status === "AVAILABLE" &&
      instance.kinds.includes(taskRun.task.wish.kind) &&
      !isShut(taskRun, model),
  );
}

/** As many as there is room for, and of each queue the first in its order. Between queues it is drawn by lot. */
function expectFair(got: readonly ModelTaskRun[], offered: readonly ModelTaskRun[], freeSlots: number): void {
  expect(got.length, "claimed").toBe(Math.min(Math.max(0, freeSlots), offered.length));
  for (const queue of new Set(offered.map(({ task }) => task.wish.queue))) {
    const ofQueue = (each: ModelTaskRun): boolean => each.task.wish.queue === queue;
    const taken = inClaimOrder(got.filter(ofQueue)).map(labelOf);
    const first = inClaimOrder(offered.filter(ofQueue)).slice(0, taken.length);
    expect(taken, `claimed of ${queue}`).toEqual(first.map(labelOf));
  }
}

function start(
  model: Model,
  by: ModelInstance,
  got: readonly ModelTaskRun[],
  numbers: ReadonlySet<number>,
): void {
  const [claimNo = 0] = numbers;
  expect(numbers.size, "numbers of one claim").toBe(1);
  expect(claimNo, "claim number").toBeGreaterThan(model.lastClaimNo);
  model.lastClaimNo = claimNo;
  for (const taskRun of got) {
    Object.assign(taskRun, { status: "RUNNING", claimNo, claimedBy: by.instanceId });
    if (taskRun.task.wish.rated) model.rateStarts.push(taskRun);
  }
}

export const explain: Command<"explain"> = async ({ rig, model, coverage }, { which }) => {
  const taskRun = pick(pendingOf(model), which);
  if (taskRun === null) return false;
  const { gates } = await rig.scheduler.explain(taskRun.taskRunId);
  const told = gates
    .flatMap(({ causes }) => causes)
    .map(({ cause }) => `${cause.code} ${keyOf(cause)}`.trim());
  const causes = causesOf(taskRun, model, parkedAtResource).map(({ gate, key }) => `${gate} ${key}`.trim());
  const known = causes.length === 0 ? ["NOT_EVALUATED"] : causes;
  expect(told.toSorted(), `what explain says of ${labelOf(taskRun)}`).toEqual(known.toSorted());
  took(coverage, "explained");
  return true;
};

const KEY_OF: {
  readonly [Code in WaitingCause["code"]]: (cause: Extract<WaitingCause, { code: Code }>) => string;
} = {
  RUN_AT: () => "",
  STOPPED: ({ taskId }) => taskId,
  PAUSED: ({ scope }) => scope,
  NO_EXECUTOR: ({ kind }) => kind,
  WINDOW: ({ scope }) => scope,
  OUT_OF_ORDER: ({ resource }) => resource,
  VERSION_ORDER: ({ resource }) => resource,
  RUN_LIMIT: ({ runId }) => runId,
  QUEUE_LIMIT: ({ queue }) => queue,
  KEY_LIMIT: ({ concurrencyKey }) => concurrencyKey,
  FAIR_SHARE: ({ runId }) => runId,
  RATE_LIMIT: ({ rate }) => rate,
  RESOURCE_BUSY: ({ resource }) => resource,
  NOT_EVALUATED: () => "",
};

function keyOf(cause: WaitingCause): string {
  const key: (cause: never) => string = KEY_OF[cause.code];
  return key(cause as never);
}
