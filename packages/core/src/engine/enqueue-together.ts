/**
 * Tasks that are enqueued one by one, by many callers at once: those that come while others are on their way to the
 * database go together, in one statement. Nobody waits for anybody to come.
 */

import type { ResolvedTask } from "../domain/task-spec.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { isRefusedRow } from "../store/database.ts";
import { firstBite } from "../store/task-runs/insert.ts";
import type { InsertedTaskRun } from "../store/task-runs/inserted.ts";
import type { PlainInsert } from "./plain-insert.ts";

interface Caller {
  readonly task: ResolvedTask;
  readonly sinceMs: number;
  readonly resolve: (enqueued: InsertedTaskRun) => void;
  readonly reject: (error: unknown) => void;
}

/** More would mean fewer at once; with one alone nothing would be made ready while the server commits. */
const MOST_UNDER_WAY = 2;

export interface SingleEnqueues {
  /** Of a plain task. Resolves when it is committed. */
  readonly enqueue: (task: ResolvedTask) => Promise<InsertedTaskRun>;
  /** Resolves when all who have called are answered, in one way or the other. */
  readonly answered: () => Promise<void>;
}

export interface SingleEnqueuesDeps {
  readonly insert: PlainInsert;
  /** How long a caller waits for those before it to be answered. */
  readonly patienceMs: number;
  /** What is told to one whose patience is over. */
  readonly unreachable: () => Error;
}

export function createSingleEnqueues(deps: SingleEnqueuesDeps): SingleEnqueues {
  let callers: Caller[] = [];
  /** Of those that were refused together each half goes by itself. */
  const apart: (readonly Caller[])[] = [];
  let underWay = 0;
  const next = (): readonly Caller[] | undefined => {
    const group = apart.shift();
    if (group !== undefined || callers.length === 0) return group;
    const count = firstBite(tasksOf(callers));
    const together = callers.slice(0, count);
    callers = callers.slice(count);
    return together;
  };
  const sendNext = (): void => {
    while (underWay < MOST_UNDER_WAY) {
      const group = next();
      if (group === undefined) return;
      const patient = group.filter((caller) => isPatient(caller, deps));
      if (patient.length === 0) continue;
      underWay += 1;
      void write(deps.insert, patient).then((refused) => {
        apart.push(...refused);
        underWay -= 1;
        sendNext();
      });
    }
  };
  const unanswered = new Set<Promise<unknown>>();
  return {
    enqueue: async (task) => {
      const answer = new Promise<InsertedTaskRun>((resolve, reject) => {
        callers.push({ task, sinceMs: monotonicMs(), resolve, reject });
        sendNext();
      });
      unanswered.add(answer);
      try {
        return await answer;
      } finally {
        unanswered.delete(answer);
      }
    },
    answered: async () => void (await Promise.allSettled(unanswered)),
  };
}

function* tasksOf(callers: readonly Caller[]): Generator<ResolvedTask> {
  for (const { task } of callers) yield task;
}

function isPatient({ sinceMs, reject }: Caller, { patienceMs, unreachable }: SingleEnqueuesDeps): boolean {
  if (monotonicMs() - sinceMs <= patienceMs) return true;
  reject(unreachable());
  return false;
}

/** Answers what is to be written again, in parts: the database refused one of them, and with it all. */
async function write(
  insert: PlainInsert,
  callers: readonly Caller[],
): Promise<readonly (readonly Caller[])[]> {
  try {
    const enqueued = await insert(callers.map(({ task }) => task));
    for (const [index, caller] of callers.entries()) answer(caller, enqueued[index]);
    return [];
  } catch (error) {
    const middle = Math.ceil(callers.length / 2);
    if (callers.length > 1 && isRefusedRow(error)) return [callers.slice(0, middle), callers.slice(middle)];
    for (const { reject } of callers) reject(error);
    return [];
  }
}

function answer({ resolve, reject }: Caller, enqueued: InsertedTaskRun | undefined): void {
  if (enqueued === undefined) reject(new Error("One task was given and none came back"));
  else resolve(enqueued);
}
