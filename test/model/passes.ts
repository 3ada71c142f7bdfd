/**
 * Promotion passes. Whom a pass looks at is the product's to know (new, due and woken ones); what it decides about each
 * is not: whoever goes must find every gate open at its turn in line, whoever is looked at and stays must be parked at
 * the first gate that blocks it then. When passes rest, nobody may wait without a gate that really blocks it.
 */

import { expect } from "vitest";
import { promoteOnce } from "../../packages/core/src/engine/promoter.ts";
import { expectSame, learn } from "./compare.ts";
import { count, took } from "./coverage.ts";
import { causesOf, type InLine, isShut, parkedAtResource } from "./gates.ts";
import {
  type Cause,
  inLineOrder,
  keyLimit,
  labelOf,
  type Model,
  type ModelTaskRun,
  modeAt,
  queueLimit,
  taskRunsOf,
} from "./model.ts";
import { admit, demote, demoteUnserved, end } from "./moves.ts";
import { BATCH } from "./rig.ts";
import type { Scene } from "./scene.ts";
import { look, type Seen } from "./snapshot.ts";

type Passed = Extract<Awaited<ReturnType<typeof promoteOnce>>, { kind: "passed" }>;

/** One pass, judged. Answers whether there is more to do at once. */
export async function onePass(scene: Scene, sweeps = false): Promise<boolean> {
  const { rig, model, coverage } = scene;
  const pass = await promoteOnce({ pool: rig.pool, batchSize: BATCH, ...(sweeps && { sweepAfter: null }) });
  if (pass.kind !== "passed") throw new Error("Somebody else has the gate lock");
  expect(pass.failed.size, "candidates that could not be judged").toBe(0);
  const shut = demote(model, (taskRun) => isShut(taskRun, model));
  if (shut.length > 0) took(coverage, "window closed by itself");
  const demoted = [...shut, ...(sweeps ? demoteUnserved(model) : [])];
  expect([...pass.demoted].toSorted(), "demoted").toEqual(idsOf(demoted));
  if (demoted.length > 0) took(coverage, "demoted");
  const before = pendingOf(model).map(({ parked }) => parked);
  const seen = await look(rig.db);
  learn(model, seen);
  replay(scene, pass, seen, sweeps);
  expectSame(model, seen);
  const moved = pendingOf(model).some(({ parked }, index) => !isSame(parked, before[index] ?? null));
  return pass.more || (sweeps && (moved || pass.promoted.length > 0));
}

/** A pass takes a hundred: with fewer, a sweep looks at all of them. */
export const MOST_OPEN = 80;
const MOST_PASSES = 60;

/** As the promoter's loop does it: again as long as a pass says that there is more. */
export async function promoteAll(scene: Scene): Promise<void> {
  await untilItRests(async () => await onePass(scene));
  expectTrueParkings(scene);
}

export async function sweepAll(scene: Scene): Promise<void> {
  await untilItRests(async () => await onePass(scene, true));
  expectTrueParkings(scene);
  for (const taskRun of pendingOf(scene.model)) {
    const [first] = causesOf(taskRun, scene.model, parkedAtResource);
    expect(first, `first gate of ${labelOf(taskRun)} after a sweep`).toEqual(taskRun.parked);
  }
}

async function untilItRests(pass: () => Promise<boolean>): Promise<void> {
  for (let passes = 0; passes < MOST_PASSES; passes += 1) if (!(await pass())) return;
  expect.fail(`The promoter does not rest after ${MOST_PASSES} passes`);
}

/** S23: no gate that is shown is open. */
function expectTrueParkings({ model, coverage }: Scene): void {
  for (const taskRun of pendingOf(model)) {
    const causes = causesOf(taskRun, model, parkedAtResource);
    const { parked } = taskRun;
    expect(causes, `gates that block ${labelOf(taskRun)} while the promoter rests`).toContainEqual(parked);
    if (parked !== null) count(coverage.gates, parked.gate);
  }
}

/** Follows the pass in the order of the line, and judges each decision by what had been decided until then. */
function replay(scene: Scene, pass: Passed, seen: Seen, sweeps: boolean): void {
  const { model } = scene;
  const refused = new Map<string, Cause>(
    pass.refused.map(({ taskRunId, resource }) => [taskRunId, { gate: "OUT_OF_ORDER", key: resource }]),
  );
  const after = new Map([...parkingsIn(seen), ...refused]);
  const promoted = new Set<string>(pass.promoted);
  const longLines = linesThatGoOn(model);
  const inLine: InLine = (other) => after.get(other.taskRunId)?.gate === "RESOURCE_BUSY";
  for (const taskRun of inLineOrder(pendingOf(model))) {
    const causes = causesOf(taskRun, model, inLine);
    if (promoted.has(taskRun.taskRunId)) {
      expect(causes, `gates that block ${labelOf(taskRun)}, which was promoted`).toEqual([]);
      noteWayOf(scene, taskRun);
      admit(taskRun, model);
      expectSlotsBelowLimits(taskRun, model, seen);
      continue;
    }
    const parked = after.get(taskRun.taskRunId) ?? null;
    if (wasLookedAt(taskRun, parked, sweeps)) {
      const first = causes[0] ?? null;
      const expected = joinsUnseen(first, parked, longLines) ? parked : first;
      expect(parked, `first gate that blocks ${labelOf(taskRun)}, which stays`).toEqual(expected);
    }
    taskRun.parked = parked;
  }
  // When all was decided: until then they were open, and others waited for them.
  for (const taskRun of pendingOf(model).filter(({ taskRunId }) => refused.has(taskRunId))) {
    end(taskRun, "FAILED", "OUT_OF_ORDER");
    count(scene.coverage.gates, "OUT_OF_ORDER");
  }
}

/** Beyond the part of a line that a pass looks at somebody may stand ahead. */
function joinsUnseen(first: Cause | null, parked: Cause | null, longLines: ReadonlySet<string>): boolean {
  if (parked?.gate !== "RESOURCE_BUSY" || !longLines.has(parked.key)) return false;
  return first === null || first.gate === "RESOURCE_BUSY";
}

function noteWayOf({ coverage, model }: Scene, taskRun: ModelTaskRun): void {
  if (taskRun.task.kept.size > 0) took(coverage, "went on after loss");
  const { version, resources } = taskRun.task.wish;
  const passes = pendingOf(model).some(
    (other) =>
      parkedAtResource(other) &&
      version !== null &&
      other.task.wish.version !== null &&
      other !== taskRun &&
      inLineOrder([other, taskRun])[0] === other &&
      resources.some(({ name }) => modeAt(other, name) === "exclusive"),
  );
  if (passes) took(coverage, "passed no larger version in line");
}

/** New and due ones always are, and whoever is parked elsewhere now. */
function wasLookedAt(taskRun: ModelTaskRun, parked: Cause | null, sweeps: boolean): boolean {
  if (taskRun.parked === null || !isSame(taskRun.parked, parked)) return true;
  if (taskRun.parked.gate === "RUN_AT") return !taskRun.later;
  return sweeps;
}

/**
 * Resources whose line has somebody behind the first that wants it alone and that nobody can go before. A pass does not
 * look further than that: who is new there joins the line instead of passing it.
 */
function linesThatGoOn(model: Model): ReadonlySet<string> {
  const line = inLineOrder(pendingOf(model).filter(parkedAtResource));
  const names = new Set(line.flatMap(({ task }) => task.wish.resources.map(({ name }) => name)));
  return new Set(
    [...names].filter((name) => {
      const those = line.filter((each) => modeAt(each, name) !== null);
      const first = those.findIndex(
        (each) =>
          modeAt(each, name) === "exclusive" && (each.task.wish.version === null || each.priority < 0),
      );
      return first >= 0 && first < those.length - 1;
    }),
  );
}

/** Capacity is rows: a promotion takes a slot below the limit, whoever is above a lowered one. */
function expectSlotsBelowLimits(taskRun: ModelTaskRun, model: Model, seen: Seen): void {
  const { run, wish } = taskRun.task;
  const limits = new Map<string, number>([[`queue:${wish.queue}`, queueLimit(model, wish.queue)]]);
  if (run !== null) limits.set(`run:${run.runId}`, run.limit);
  if (wish.concurrencyKey !== null)
    limits.set(`key:${wish.concurrencyKey}`, keyLimit(model, wish.concurrencyKey));
  for (const { scope, slot, taskRunId } of seen.holds) {
    const limit = limits.get(scope) ?? 0;
    if (taskRunId !== taskRun.taskRunId || limit === 0) continue;
    expect(slot, `slot of ${labelOf(taskRun)} at ${scope}`).toBeLessThan(limit);
  }
}

function parkingsIn({ taskRuns }: Seen): ReadonlyMap<string, Cause> {
  return new Map(
    taskRuns.flatMap(({ taskRunId, blockedOn, blockedKey }) =>
      blockedOn === null ? [] : [[taskRunId, { gate: blockedOn, key: blockedKey ?? "" }]],
    ),
  );
}

export function pendingOf(model: Model): readonly ModelTaskRun[] {
  return taskRunsOf(model).filter(({ status }) => status === "PENDING");
}

function isSame(a: Cause | null, b: Cause | null): boolean {
  return a?.gate === b?.gate && a?.key === b?.key;
}

function idsOf(taskRuns: readonly ModelTaskRun[]): readonly string[] {
  return taskRuns.map(({ taskRunId }) => taskRunId).toSorted();
}
