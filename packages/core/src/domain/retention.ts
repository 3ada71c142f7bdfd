/** Which tasks have been kept long enough. A task goes whole, with all its attempts, and never before its run has ended. Pure. */

import type { RunId, TaskId } from "./ids.ts";
import { isTerminal, type TaskRunStatus, type TerminalStatus } from "./task-status.ts";

/** How long a task is kept after its end, by how it ended. Infinity: for ever. */
export type KeepMs = Readonly<Record<TerminalStatus, number>>;

/** A task with what decides. */
export interface AgingTask {
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  /** Of its newest task run; null: it has none. */
  readonly status: TaskRunStatus | null;
  readonly attempts: number;
  /** When it had ended and its run too. */
  readonly endedAt: Date | null;
  readonly runOpen: boolean;
  /** It holds something, something is kept for it, or a rate may still count its starts. */
  readonly holding: boolean;
}

/** Attempts that one bite may take: a task has up to a hundred, and a statement must stay short. */
const MAX_ATTEMPTS_PER_BITE = 2_000;

/** Those to be pruned now, oldest first, no more than a bite may take. */
export function choosePrunable(tasks: readonly AgingTask[], keepMs: KeepMs, now: Date): readonly AgingTask[] {
  let attempts = 0;
  return tasks.filter((task) => {
    const ended = endOf(task);
    if (ended === null || now.getTime() - ended.at.getTime() < keepMs[ended.status]) return false;
    attempts += task.attempts;
    // The first one always, so that it goes on.
    return attempts <= MAX_ATTEMPTS_PER_BITE || attempts === task.attempts;
  });
}

/** What tells when it is worth to look at tasks again. */
export interface LeftBehind {
  readonly oldest: Readonly<Record<TerminalStatus, Date | null>>;
  readonly anyOpen: boolean;
}

export function leftBehind(tasks: readonly AgingTask[]): LeftBehind {
  const oldest: Record<TerminalStatus, Date | null> = { DONE: null, FAILED: null, CANCELED: null };
  let anyOpen = false;
  for (const task of tasks) {
    const ended = endOf(task);
    if (ended === null) {
      anyOpen = true;
      continue;
    }
    const known = oldest[ended.status];
    if (known === null || ended.at < known) oldest[ended.status] = ended.at;
  }
  return { oldest, anyOpen };
}

/** What is open now cannot be due before this has passed, nor what is enqueued. Infinity: nothing is ever pruned. */
export function shortestKeepMs(keepMs: KeepMs): number {
  return Math.min(...Object.values(keepMs));
}

function endOf(task: AgingTask): { readonly status: TerminalStatus; readonly at: Date } | null {
  const { status, endedAt, runOpen, holding } = task;
  if (status === null || !isTerminal(status) || endedAt === null || runOpen || holding) return null;
  return { status, at: endedAt };
}
