/** The database must be what the oracle says, after every step and to the last row. */

import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { type Model, type ModelTaskRun, modeAt, taskRunsOf } from "./model.ts";
import { tally } from "./moves.ts";
import type { Rig } from "./rig.ts";
import { look, type Seen, type SeenTaskRun } from "./snapshot.ts";

export async function compare(rig: Rig, model: Model): Promise<void> {
  const seen = await look(rig.db);
  learn(model, seen);
  expectSame(model, seen);
}

export function expectSame(model: Model, seen: Seen): void {
  const expected = { taskRuns: expectedTaskRuns(model), ...expectedRest(model) };
  const actual = toView(seen, model);
  // Most of the time of a sequence would go into the assertion: it is there for the words.
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** Ids and stamps are the database's to give. */
export function learn(model: Model, { taskRuns }: Seen): void {
  const rows = byTaskAndAttempt(taskRuns);
  for (const taskRun of taskRunsOf(model)) {
    const row = rows.get(`${taskRun.task.taskId} ${taskRun.attempt}`);
    if (row === undefined) continue;
    taskRun.taskRunId = row.taskRunId;
    taskRun.enqueuedUs = row.enqueuedUs;
    taskRun.availableUs = row.availableUs ?? 0;
  }
}

function byTaskAndAttempt(taskRuns: readonly SeenTaskRun[]): ReadonlyMap<string, SeenTaskRun> {
  return new Map(taskRuns.map((row) => [`${row.taskId} ${row.attempt}`, row]));
}

type View = Readonly<Record<string, unknown>>;

function expectedTaskRuns(model: Model): View {
  const names = instanceNames(model);
  return Object.fromEntries(
    taskRunsOf(model).map((taskRun) => [
      nameOf(taskRun.task.number, taskRun.attempt),
      {
        status: taskRun.status,
        outcome: taskRun.outcome,
        priority: taskRun.priority,
        interruptions: taskRun.interruptions,
        deferrals: taskRun.deferrals,
        claimNo: taskRun.claimNo,
        claimedBy: taskRun.claimedBy === null ? null : names.get(taskRun.claimedBy),
        canceling: taskRun.canceling,
        letGo: taskRun.letGo,
        job: taskRun.job,
        later: taskRun.status === "PENDING" && taskRun.later,
        parked: taskRun.parked === null ? null : `${taskRun.parked.gate} ${taskRun.parked.key}`,
      },
    ]),
  );
}

function expectedRest(model: Model): View {
  return {
    holds: expectedHolds(model).toSorted(),
    uses: expectedUses(model),
    runs: Object.fromEntries(
      model.runs.map(({ runId, limit, tasks }) => [runId, { ...tally(tasks), limit }]),
    ),
    instances: Object.fromEntries(model.instances.map(({ name, state }) => [name, state])),
  };
}

function expectedHolds(model: Model): readonly string[] {
  const held = taskRunsOf(model).flatMap((taskRun) =>
    [...taskRun.holds].map((scope) => {
      const resource = resourceOf(scope);
      const kept = resource !== null && taskRun.task.kept.has(resource);
      return holdText(scope, isAlone(taskRun, scope), taskRun.taskRunId, kept ? taskRun.task.taskId : null);
    }),
  );
  const waiting = model.tasks.flatMap((task) =>
    [...task.kept]
      .filter((name) => !task.attempts.some(({ holds }) => holds.has(`resource:${name}`)))
      .map((name) => holdText(`resource:${name}`, true, null, task.taskId)),
  );
  return [...held, ...waiting];
}

function resourceOf(scope: string): string | null {
  return scope.startsWith("resource:") ? scope.slice("resource:".length) : null;
}

function isAlone(taskRun: ModelTaskRun, scope: string): boolean {
  const resource = resourceOf(scope);
  return resource !== null && modeAt(taskRun, resource) === "exclusive";
}

function holdText(scope: string, alone: boolean, taskRunId: string | null, keptFor: string | null): string {
  const how = scope.startsWith("resource:") ? (alone ? " alone" : " shared") : "";
  return `${scope}${how} by ${taskRunId}${keptFor === null ? "" : ` kept for ${keptFor}`}`;
}

function expectedUses(model: Model): View {
  const uses: Record<string, { exclusive: number; shared: number }> = {};
  const add = (name: string, how: "exclusive" | "shared"): void => {
    const use = uses[name] ?? { exclusive: 0, shared: 0 };
    use[how] += 1;
    uses[name] = use;
  };
  for (const text of expectedHolds(model)) {
    const [, name, how] = /^resource:(\w+) (alone|shared)/.exec(text) ?? [];
    if (name !== undefined) add(name, how === "alone" ? "exclusive" : "shared");
  }
  return uses;
}

function toView(seen: Seen, model: Model): View {
  const numbers = new Map(model.tasks.map(({ taskId, number }) => [taskId, number]));
  const names = instanceNames(model);
  return {
    taskRuns: Object.fromEntries(
      seen.taskRuns.map((row) => [nameOf(numbers.get(row.taskId), row.attempt), toTaskRunView(row, names)]),
    ),
    holds: seen.holds
      .map(({ scope, slot, taskRunId, reservedFor }) => holdText(scope, slot === 0, taskRunId, reservedFor))
      .toSorted(),
    uses: Object.fromEntries(seen.uses.map(({ name, ...use }) => [name, use])),
    runs: Object.fromEntries(seen.runs.map(({ runId, ...run }) => [runId, run])),
    instances: Object.fromEntries(
      seen.instances.map(({ instanceId, state }) => [names.get(instanceId), state]),
    ),
  };
}

function toTaskRunView(row: SeenTaskRun, names: ReadonlyMap<string, string>): View {
  const { status, outcome, priority, interruptions, deferrals, claimNo, canceling, later, letGo, job } = row;
  return {
    status,
    outcome,
    priority,
    interruptions,
    deferrals,
    claimNo,
    claimedBy: row.claimedBy === null ? null : names.get(row.claimedBy),
    canceling,
    letGo,
    job,
    later,
    parked: row.blockedOn === null ? null : `${row.blockedOn} ${row.blockedKey}`,
  };
}

function instanceNames({ instances }: Model): ReadonlyMap<string, string> {
  return new Map(instances.map(({ instanceId, name }) => [instanceId, name]));
}

function nameOf(task: number | undefined, attempt: number): string {
  return `task ${task} attempt ${attempt}`;
}
