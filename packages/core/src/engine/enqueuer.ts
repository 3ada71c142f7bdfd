import { createHash } from "node:crypto";
import { SchedulerError } from "../domain/errors.ts";
import { canonicalRequest, requireKey } from "../domain/idempotency.ts";
import type { RunId } from "../domain/ids.ts";
import { requireShape } from "../domain/require-shape.ts";
import { anything, listOf } from "../domain/shape.ts";
import { type ResolvedTask, requireName, resolveTaskSpec, type TaskSpec } from "../domain/task-spec.ts";
import type { Executor } from "../executors/executor.ts";
import type { Transaction } from "../store/database.ts";
import { rememberAnswer, takeKey } from "../store/idempotency/keys.ts";
import { notifyChannels } from "../store/notify.ts";
import { findUnknownRates, firstBite, insertRun, insertTasks } from "../store/task-runs/insert.ts";
import type { InsertedTaskRun } from "../store/task-runs/inserted.ts";
import { isPlain } from "../store/task-runs/plain.ts";
import { messageOf } from "./error-message.ts";
import { wakesFor } from "./wakeups.ts";

interface NewRun {
  readonly title: string;
  readonly limit: number;
}

export interface EnqueueRequest {
  readonly specs: readonly TaskSpec[];
  readonly run: NewRun | null;
  readonly idempotencyKey: string | null;
}

interface EnqueueAnswer {
  readonly runId: RunId | null;
  readonly taskRuns: readonly InsertedTaskRun[];
}

// What each of them looks like is said where it is resolved, so that it is looked at once.
const SPECS = listOf(anything, "a list of tasks");
// One call is one transaction, and its answer one value that is kept with an idempotency key.
const MOST_TASKS = 100_000;

type Write = (tx: Transaction) => Promise<EnqueueAnswer>;

interface Enqueueing {
  /** To be done in whichever transaction the caller wants. */
  readonly write: Write;
  /** Set where one statement writes all there is to write. */
  readonly plain: readonly ResolvedTask[] | null;
}

/** What a schema or a check of the caller's throws by itself is an answer too: it did not take the input. */
async function checkInput(executor: Executor, input: unknown): Promise<void> {
  try {
    await executor.checkInput?.(input);
  } catch (error) {
    if (error instanceof SchedulerError) throw error;
    const problem = `its check failed: ${messageOf(error)}`;
    throw new SchedulerError("INVALID_INPUT", { kind: executor.kind, at: "", problem }, { cause: error });
  }
}

/**
 * Checks everything before anything is written; the input of a kind that this instance knows also against
 * its schema. All that is the caller's is read before the first wait: he may change it meanwhile.
 */
export async function prepareEnqueue(
  { specs, run, idempotencyKey }: EnqueueRequest,
  executors: ReadonlyMap<string, Executor>,
): Promise<Enqueueing> {
  requireShape("INVALID_TASK", "tasks", specs, SPECS);
  if (specs.length > MOST_TASKS) {
    const problem = `are ${specs.length}, at most ${MOST_TASKS} in one call; enqueue them in several`;
    throw new SchedulerError("INVALID_TASK", { at: "tasks", problem });
  }
  const many = specs.length !== 1 || run !== null;
  // Not by map, which passes over the holes of a list.
  const tasks = Array.from(specs, (spec, index) => resolveTaskSpec(spec, many ? `tasks[${index}]` : "task"));
  // What will be stored is what a schema sees, and its own to change.
  for (const { kind, inputJson } of tasks) {
    const executor = executors.get(kind);
    // To wait for nothing would take a turn for each of them.
    if (executor?.checkInput !== undefined) await checkInput(executor, JSON.parse(inputJson));
  }
  if (run !== null) requireRun(run, tasks.length);
  const rates = [...new Set(tasks.flatMap(({ rate }) => rate ?? []))];
  const write: Write = async (tx) => {
    const runId = run === null ? null : await insertRun(tx, { ...run, tasks: tasks.length });
    return { runId, taskRuns: await insertTasks(tx, tasks, runId) };
  };
  if (idempotencyKey !== null) requireKey(idempotencyKey);
  const once =
    idempotencyKey === null ? write : oncePerKey(write, idempotencyKey, canonicalRequest({ tasks, run }));
  return {
    write: async (tx) => {
      // Before the key is taken: the caller's transaction may go on, and the key would have no answer for ever.
      await requireRates(tx, rates);
      return await once(tx);
    },
    plain: plainOf(tasks, { run, idempotencyKey }),
  };
}

function plainOf(
  tasks: readonly ResolvedTask[],
  { run, idempotencyKey }: Omit<EnqueueRequest, "specs">,
): readonly ResolvedTask[] | null {
  if (run !== null || idempotencyKey !== null || tasks.length === 0) return null;
  return tasks.every(isPlain) && firstBite(tasks) === tasks.length ? tasks : null;
}

async function requireRates(tx: Transaction, rates: readonly string[]): Promise<void> {
  const unknown = await findUnknownRates(tx, rates);
  if (unknown.length > 0) throw new SchedulerError("UNKNOWN_RATE", { rates: unknown });
}

/** The first call with a key writes; every later one gets the answer of the first, whatever has become of its tasks. */
function oncePerKey(write: Write, key: string, request: string): Write {
  const hash = createHash("sha256").update(request).digest();
  return async (tx) => {
    const known = await takeKey<EnqueueAnswer>(tx, key, hash);
    if (known.kind === "known") {
      if (!known.sameRequest) throw new SchedulerError("IDEMPOTENCY_KEY_REUSED", { key });
      return known.answer;
    }
    const answer = await write(tx);
    await rememberAnswer(tx, key, answer);
    return answer;
  };
}

const LARGEST_RUN_LIMIT = 1_000_000;

export function requireLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_RUN_LIMIT)
    throw new SchedulerError("INVALID_LIMIT", { limit });
}

function requireRun({ title, limit }: NewRun, tasks: number): void {
  requireLimit(limit);
  const refuse = (at: string, problem: string): never => {
    throw new SchedulerError("INVALID_TASK", { at, problem });
  };
  requireName(title, (problem) => refuse("run.title", problem));
  if (tasks === 0) refuse("tasks", "are none; a run ends with its last task, so it needs one");
}

/** In a caller's own transaction the hint goes with the commit: only the database knows when that is. */
export async function notifyInside(tx: Transaction, taskRuns: readonly InsertedTaskRun[]): Promise<void> {
  await notifyChannels(tx, wakesFor(taskRuns));
}
