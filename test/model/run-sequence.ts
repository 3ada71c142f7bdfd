/** One sequence from an empty database to its end: every step on both sides, and the database compared after each. */

import { expect } from "vitest";
import * as bulk from "./bulk-commands.ts";
import { compare } from "./compare.ts";
import { type Coverage, count } from "./coverage.ts";
import * as ends from "./end-commands.ts";
import * as instances from "./instance-commands.ts";
import * as losses from "./loss-commands.ts";
import { emptyModel, isOpen, type Model, type ModelTaskRun, taskRunsOf } from "./model.ts";
import * as outside from "./outside-commands.ts";
import { prune } from "./prune-commands.ts";
import type { Rig } from "./rig.ts";
import * as rules from "./rule-commands.ts";
import type { Command, Scene } from "./scene.ts";
import { KINDS, QUEUES, RESOURCES, type Step } from "./steps.ts";
import { trespass } from "./trespass.ts";
import * as work from "./work-commands.ts";

const COMMANDS: { readonly [Name in Step["do"]]: Command<Name> } = {
  enqueue: work.enqueue,
  enqueueRun: work.enqueueRun,
  enqueueLargeRun: work.enqueueLargeRun,
  pass: work.pass,
  promote: work.promote,
  sweep: work.sweep,
  claim: work.claim,
  loseClaim: work.loseClaim,
  explain: work.explain,
  poll: outside.poll,
  losePoll: outside.losePoll,
  keepHandle: outside.keepHandle,
  passPolls: outside.passPolls,
  passDeadline: outside.passDeadline,
  settle: ends.settle,
  settleOne: ends.settleOne,
  undoEnds: losses.undoEnds,
  reconcile: losses.reconcile,
  rescue: losses.rescue,
  cancel: ends.cancel,
  cancelRun: ends.cancelRun,
  cancelMany: bulk.cancelMany,
  retryMany: bulk.retryMany,
  retry: ends.retry,
  prune,
  timeOut: ends.timeOut,
  trespass,
  join: instances.join,
  crash: instances.crash,
  expire: instances.expire,
  renew: instances.renew,
  drain: instances.drain,
  leave: instances.leave,
  pause: rules.pause,
  resume: rules.resume,
  setWindows: rules.setWindows,
  passWindow: rules.passWindow,
  setRunLimit: rules.setRunLimit,
  setQueue: rules.setQueue,
  setKeyLimit: rules.setKeyLimit,
  setRate: rules.setRate,
  passPeriod: rules.passPeriod,
  passTime: rules.passTime,
  putStop: rules.putStop,
  takeOffStop: rules.takeOffStop,
  releaseReservation: rules.releaseReservation,
};

export const STEP_NAMES: readonly string[] = Object.keys(COMMANDS);

const BEGINNING: readonly Step[] = [
  { do: "setRate", amount: 2 },
  { do: "join", kinds: KINDS, slots: 3 },
];

export async function runSequence(rig: Rig, steps: readonly Step[], coverage: Coverage): Promise<void> {
  await rig.clear();
  const scene: Scene = { rig, model: emptyModel(), coverage };
  for (const [index, step] of [...BEGINNING, ...steps].entries()) {
    await inWords(`step ${index - BEGINNING.length}, ${step.do}`, async () => await take(scene, step));
  }
  await inWords("invariants", async () => await expectInvariants(scene));
  await inWords("end", async () => await bringToAnEnd(scene));
}

async function take(scene: Scene, step: Step): Promise<void> {
  const command: (scene: Scene, step: never) => Promise<boolean> = COMMANDS[step.do];
  const did = await command(scene, step as never);
  await compare(scene.rig, scene.model);
  if (did) count(scene.coverage.steps, step.do);
}

/** Which step it was belongs to the message. */
async function inWords(words: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${words}: ${error.message}`;
    throw error;
  }
}

async function expectInvariants({ rig }: Scene): Promise<void> {
  const { violations } = await rig.scheduler.checkInvariants();
  expect(violations).toEqual([]);
}

const MOST_ROUNDS = 120;
const WORK_SETS = ["waiting", "line", "ready", "hold", "open_version", "claim_batch", "outside_job"];

/** Nothing is lost: with every gate open and one instance that does its work, all comes to its end. */
async function bringToAnEnd(scene: Scene): Promise<void> {
  const { rig, model } = scene;
  for (const step of openEverything(scene)) await take(scene, step);
  const isDone = (): boolean => !taskRunsOf(model).some(isOpen);
  const last = model.instances.filter(({ gone }) => !gone).length - 1;
  for (let round = 0; !isDone() && round < MOST_ROUNDS; round += 1) {
    await take(scene, { do: "passPeriod" });
    await take(scene, { do: "promote" });
    await take(scene, { do: "claim", instance: last });
    if (jobsOf(model).length > 0) await take(scene, { do: "poll", instance: last });
    await take(scene, { do: "settle", instance: last, outcomes: ["success"], losesAnswer: false });
  }
  expect(taskRunsOf(model).filter(isOpen).length, "task runs that are still open").toBe(0);
  await expectInvariants(scene);
  for (const table of WORK_SETS) {
    const { rows } = await rig.db.client.query(`SELECT * FROM signalbox.${table}`);
    expect(rows, `what is left in ${table}`).toEqual([]);
  }
}

function jobsOf(model: Model): readonly ModelTaskRun[] {
  return taskRunsOf(model).filter(({ job }) => job !== null);
}

function openEverything({ model }: Scene): readonly Step[] {
  const scopes = [
    ...QUEUES.map((queue) => ({ what: { queue }, scope: `queue:${queue}` })),
    ...RESOURCES.map((resource) => ({ what: { resource }, scope: `resource:${resource}` })),
    ...model.runs.toReversed().map(({ runId }, run) => ({ what: { run }, scope: `run:${runId}` })),
  ];
  const alive = model.instances.filter(({ state, expired }) => state !== "DEAD" && !expired);
  return [
    ...scopes
      .filter(({ scope }) => model.paused.has(scope))
      .map(({ what }) => ({ do: "resume" as const, what })),
    ...scopes
      .filter(({ scope }) => model.windows.has(scope))
      .map(({ what }) => ({ do: "setWindows" as const, what, windows: "none" as const })),
    ...model.tasks
      .filter(({ stops }) => stops.size > 0)
      .map(() => ({ do: "takeOffStop" as const, which: 0 })),
    ...jobsOf(model).map(() => ({ do: "passDeadline" as const, which: 0 })),
    ...alive.map(() => ({ do: "expire" as const, instance: 0 })),
    { do: "rescue" },
    { do: "join", kinds: KINDS, slots: 10 },
    { do: "passTime" },
  ];
}
