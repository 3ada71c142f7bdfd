/** Changes the rules while work goes on: limits, weights, pauses, windows, rates and stops. */

import { resolveAsked } from "../domain/asked.ts";
import { called } from "../domain/called.ts";
import { SchedulerError } from "../domain/errors.ts";
import { asStored, isUuid, type RunId, type TaskId, type TaskRunId } from "../domain/ids.ts";
import { requireId, requireMembers, requireShape } from "../domain/require-shape.ts";
import type { ResourceName } from "../domain/resource.ts";
import {
  type Pausable,
  type PauseScope,
  type QueueName,
  queueScope,
  resourceScope,
  runScope,
  type Windowed,
  type WindowScope,
} from "../domain/scope.ts";
import { anything, isGiven, listOf, number, objectOf, text } from "../domain/shape.ts";
import { requireName } from "../domain/task-spec.ts";
import type { Window } from "../domain/window.ts";
import { parseWindow, type WindowSpec } from "../domain/window-spec.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { takeGateLock } from "../store/holds/gate-lock.ts";
import { LONGEST_PERIOD_MS } from "../store/holds/rates.ts";
import { changeKeyLimit, changeRate } from "../store/rules/limits.ts";
import { pauseScope, resumeScope } from "../store/rules/pause.ts";
import { changeQueue, type QueueChange } from "../store/rules/queue.ts";
import { type RecallBite, recallBite } from "../store/rules/recall.ts";
import { releaseReservation } from "../store/rules/reservation.ts";
import { putStop, takeOffStop } from "../store/rules/stop.ts";
import { changeWindows } from "../store/rules/window.ts";
import { holdRun } from "../store/runs/is-run.ts";
import { demoteStrays } from "../store/task-runs/demote.ts";
import type { Emit } from "./telemetry.ts";
import type { Wakeups } from "./wakeups.ts";

/** Who asks for it and why; shown to whoever waits because of it. */
export interface RuleRequest {
  readonly by?: string;
  readonly reason?: string;
}

/** What can be changed while work goes on; it counts for all instances at once. */
export interface Rules {
  /**
   * `limit`: how many of its task runs may be AVAILABLE or RUNNING at once; 0 is unlimited. `weight`: how often its turn
   * comes compared with other queues. In force when it resolves; whoever is above a lowered limit already stays.
   */
  readonly setQueue: (
    name: QueueName,
    rules: { readonly limit?: number; readonly weight?: number },
  ) => Promise<void>;
  /**
   * Nothing of it starts any more when this resolves; what runs goes on. False: it was paused before. If it fails half-way
   * the pause may stand; call again.
   */
  readonly pause: (what: Pausable, request?: RuleRequest) => Promise<boolean>;
  /** False: it was not paused. */
  readonly resume: (what: Pausable, request?: RuleRequest) => Promise<boolean>;
  /** Replaces all windows of a queue or resource; an empty list takes them off. */
  readonly setWindows: (what: Windowed, windows: readonly WindowSpec[]) => Promise<void>;
  /** Of one concurrency key, or with "customer:*" of every key that begins with "customer:". Default: 1. */
  readonly setKeyLimit: (concurrencyKey: string, limit: number) => Promise<void>;
  /** At most `amount` starts in any period of `perMs`, over all tasks that name this rate. Who is AVAILABLE has its start already. */
  readonly setRate: (
    name: string,
    rate: { readonly amount: number; readonly perMs: number },
  ) => Promise<void>;
  /**
   * A resource that is kept for a task since its instance or its warden was lost, or since it ignored its signal, is free
   * for others. Call it when you know that nothing of that attempt is at work any more. False: it was kept for nobody.
   */
  readonly releaseReservation: (resource: ResourceName, request?: RuleRequest) => Promise<boolean>;
  /** Takes the id of a task. It does not start before the stop is taken off. A second one with the same code changes its detail. */
  readonly putStop: (taskId: TaskId, code: string, detail?: string) => Promise<void>;
  /** Takes the id of a task. False: there was no such stop on it. */
  readonly takeOffStop: (taskId: TaskId, code: string) => Promise<boolean>;
}

const WINDOWED = objectOf({ queue: text, resource: text });
const PAUSABLE = objectOf({ queue: text, resource: text, runId: text });
const QUEUE_RULES = objectOf<Parameters<Rules["setQueue"]>[1]>({ limit: number, weight: number });
const RATE = objectOf<Parameters<Rules["setRate"]>[1]>({ amount: number, perMs: number }, [
  "amount",
  "perMs",
]);
const WINDOWS = listOf(anything, "a list of windows");
/** Each pass judges all of those that it comes across. */
const MOST_WINDOWS = 100;

const BITE = 500;
const LARGEST_LIMIT = 1_000_000;
const LARGEST_WEIGHT = 1_000;
const MOST_STARTS = 10_000;

function parseWindows(windows: readonly WindowSpec[]): readonly Window[] {
  requireShape("INVALID_WINDOW", "windows", windows, WINDOWS);
  if (windows.length > MOST_WINDOWS) {
    const problem = `are ${windows.length}; a queue or resource has at most ${MOST_WINDOWS}`;
    throw new SchedulerError("INVALID_WINDOW", { at: "windows", problem });
  }
  return Array.from(windows, (window, index) => parseWindow(window, `windows[${index}]`));
}

export function ruleKeeper(pool: Pool, wakeups: Wakeups, emit: Emit): Rules {
  const { change, sendBack, close, recall } = changes(pool, wakeups, emit);
  /** Only the rules of queues have a number, by which claims leave alone what these close. */
  const inForce = async ({ isQueue, scope }: RuledScope, work: Closing): Promise<boolean> =>
    await (isQueue ? close(work) : recall(scope, work));
  return {
    setQueue: async (name, rules) => {
      requireWords("queue", name);
      const change = requireQueueRules(rules);
      await close(async (tx) => {
        await changeQueue(tx, name, change);
        return true;
      });
    },
    pause: async (what, request) => {
      const paused = pausedScope(what);
      const asked = resolveAsked(request);
      return await inForce(paused, async (tx) => {
        const changed = await pauseScope(tx, paused.scope, asked);
        if (paused.runId !== null && !(await holdRun(tx, paused.runId)))
          throw new SchedulerError("RUN_NOT_FOUND", { runId: paused.runId });
        return changed;
      });
    },
    resume: async (what, request) => {
      const { scope } = pausedScope(what);
      const asked = resolveAsked(request);
      return await change(async (tx) => await resumeScope(tx, scope, asked));
    },
    setWindows: async (what, windows) => {
      const windowed = windowedScope(what);
      const parsed = parseWindows(windows);
      await inForce(windowed, async (tx) => {
        await changeWindows(tx, windowed.scope, parsed);
        return true;
      });
    },
    setKeyLimit: async (concurrencyKey, limit) => {
      requireWords("concurrencyKey", concurrencyKey);
      requireWhole("limit", limit, 1, LARGEST_LIMIT);
      await change(async (tx) => await changeKeyLimit(tx, concurrencyKey, limit));
    },
    setRate: async (name, rate) => {
      requireWords("rate", name);
      requireMembers("INVALID_RULE", "rate", rate, RATE);
      const { amount, perMs } = rate;
      requireWhole("amount", amount, 1, MOST_STARTS);
      requireWhole("perMs", perMs, 1, LONGEST_PERIOD_MS);
      await change(async (tx) => await changeRate(tx, name, { amount, perMs }));
    },
    releaseReservation: async (resource, request) => {
      requireWords("resource", resource);
      const asked = resolveAsked(request);
      return await sendBack(async (tx) => await releaseReservation(tx, resource, asked));
    },
    ...stopKeeper({ change, sendBack }),
  };
}

/** False: nothing changed. */
type Closing = (tx: Transaction) => Promise<boolean>;

interface Changes {
  readonly change: <Answer>(work: (tx: Transaction) => Promise<Answer>) => Promise<Answer>;
  /** Tells whom the change itself has sent back; null: nothing changed. */
  readonly sendBack: (work: (tx: Transaction) => Promise<readonly TaskRunId[] | null>) => Promise<boolean>;
  /** Then brings back what is AVAILABLE under the old rules: no claim takes it, but it shall say why it waits. */
  readonly close: (work: Closing) => Promise<boolean>;
  /**
   * Then brings back what is AVAILABLE there; where nothing changed, what is left of an earlier change. Before this is over
   * a claim may take some of it: nothing has been promised yet.
   */
  readonly recall: (scope: PauseScope, work: Closing) => Promise<boolean>;
}

function changes(pool: Pool, wakeups: Wakeups, emit: Emit): Changes {
  const change: Changes["change"] = async (work) => {
    const answer = await pool.transaction(work);
    wakeups.send("signalbox_gate");
    return answer;
  };
  const tell = (demoted: readonly TaskRunId[]): void => {
    if (demoted.length > 0) emit({ type: "task_run.demoted", taskRunIds: demoted });
  };
  const sendBack: Changes["sendBack"] = async (work) => {
    const demoted = await change(work);
    tell(demoted ?? []);
    return demoted !== null;
  };
  const thenInBites = async (work: Closing, bring: (tx: Transaction) => Promise<RecallBite>) => {
    const changed = await pool.transaction(work);
    for (let left = true; left; ) {
      const { demoted, over } = await pool.transaction(async (tx) => {
        await takeGateLock(tx);
        return await bring(tx);
      });
      tell(demoted);
      left = !over;
    }
    wakeups.send("signalbox_gate");
    return changed;
  };
  return {
    change,
    sendBack,
    close: async (work) =>
      await thenInBites(work, async (tx) => {
        const demoted = await demoteStrays(tx, BITE);
        return { demoted, over: demoted.length < BITE };
      }),
    recall: async (scope, work) => await thenInBites(work, async (tx) => await recallBite(tx, BITE, scope)),
  };
}

function stopKeeper({
  change,
  sendBack,
}: Pick<Changes, "change" | "sendBack">): Pick<Rules, "putStop" | "takeOffStop"> {
  return {
    putStop: async (taskId, code, detail) => {
      requireId("taskId", taskId);
      requireWords("code", code);
      if (isGiven(detail)) requireWords("detail", detail);
      const found =
        isUuid(taskId) &&
        (await sendBack(async (tx) => await putStop(tx, asStored(taskId), { code, detail: detail ?? null })));
      if (!found) throw new SchedulerError("TASK_NOT_FOUND", { id: taskId, wanted: "task" });
    },
    takeOffStop: async (taskId, code) => {
      requireId("taskId", taskId);
      requireWords("code", code);
      const off = isUuid(taskId)
        ? await change(async (tx) => await takeOffStop(tx, asStored(taskId), code))
        : null;
      if (off === null) throw new SchedulerError("TASK_NOT_FOUND", { id: taskId, wanted: "task" });
      return off;
    },
  };
}

/** Of what a rule is asked for. */
interface RuledScope<Scope extends PauseScope = PauseScope> {
  readonly scope: Scope;
  readonly isQueue: boolean;
  /** Null: it is not of a run. */
  readonly runId: RunId | null;
}

function pausedScope(what: Pausable): RuledScope {
  requireMembers("INVALID_RULE", "what", what, PAUSABLE);
  requireOne(what, "queue, resource or runId");
  const { runId } = what as { readonly runId?: RunId };
  if (!isGiven(runId)) return scopeOf(what as Windowed);
  if (!isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
  return { scope: runScope(asStored(runId)), isQueue: false, runId };
}

function windowedScope(what: Windowed): RuledScope<WindowScope> {
  requireMembers("INVALID_RULE", "what", what, WINDOWED);
  requireOne(what, "queue or resource");
  return scopeOf(what);
}

function scopeOf(what: Windowed): RuledScope<WindowScope> {
  const { queue, resource = "" } = what as { readonly queue?: QueueName; readonly resource?: ResourceName };
  if (isGiven(queue)) {
    requireWords("queue", queue);
    return { scope: queueScope(queue), isQueue: true, runId: null };
  }
  requireWords("resource", resource);
  return { scope: resourceScope(resource), isQueue: false, runId: null };
}

/** Of two only one would be kept. */
function requireOne(what: object, choice: string): void {
  const given = Object.values(what).filter(isGiven).length;
  if (given !== 1) refuse("what", `names ${given === 0 ? "nothing" : `${given} things`}; give ${choice}`);
}

function requireQueueRules(rules: Parameters<Rules["setQueue"]>[1]): QueueChange {
  requireMembers("INVALID_RULE", "rules", rules, QUEUE_RULES);
  const { limit, weight } = rules;
  if (!isGiven(limit) && !isGiven(weight)) refuse("rules", "change nothing; give limit or weight");
  if (isGiven(limit)) requireWhole("limit", limit, 0, LARGEST_LIMIT);
  if (isGiven(weight)) requireWhole("weight", weight, 1, LARGEST_WEIGHT);
  return { limit, weight };
}

function requireWords(at: string, words: string): void {
  requireName(words, (problem) => refuse(at, problem));
}

function requireWhole(at: string, value: number, low: number, high: number): void {
  if (Number.isInteger(value) && value >= low && value <= high) return;
  const problem = typeof value === "number" ? `${value} is not` : `is ${called(value)}; give`;
  refuse(at, `${problem} a whole number from ${low} to ${high}`);
}

function refuse(at: string, problem: string): never {
  throw new SchedulerError("INVALID_RULE", { at, problem });
}
