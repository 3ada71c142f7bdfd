/** Other run times by hand, for what has not started. */

import { type Asked, resolveAsked } from "../domain/asked.ts";
import { SchedulerError } from "../domain/errors.ts";
import { requireWithin } from "../domain/filter.ts";
import type { TaskId, TaskRunId } from "../domain/ids.ts";
import { isInstant, NO_INSTANT } from "../domain/instant.ts";
import { requireId, requireMembers } from "../domain/require-shape.ts";
import { isGiven } from "../domain/shape.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { deferByHand, type LaterTime, readWhyNotDeferred } from "../store/task-runs/defer-by-hand.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { DEFER_OPTIONS } from "./argument-shapes.ts";
import type { DeferOptions, Scheduler } from "./scheduler-face.ts";
import type { Wakeups } from "./wakeups.ts";

/** What was deferred, and until when. */
export interface Deferred {
  readonly taskId: TaskId;
  /** It is PENDING. */
  readonly taskRunId: TaskRunId;
  readonly runAt: Date;
}

/** A year: whoever means a later day gives it. */
const LONGEST_DELAY_MS = 31_536_000_000;
/** It can be handed on while it is deferred, but hardly again and again. */
const MOST_TRIES = 10;

export function deferrer(pool: Pool, wakeups: Wakeups): Pick<Scheduler, "defer"> {
  return {
    defer: async (id, options) => {
      requireId("id", id);
      requireMembers("INVALID_ARGUMENT", "options", options, DEFER_OPTIONS);
      const { by, reason } = options;
      const asked = resolveAsked({ ...(isGiven(by) && { by }), ...(isGiven(reason) && { reason }) });
      const deferred = await deferOnce(pool, id, laterTimeOf(options), asked);
      // Its run time is another one, what stood behind it may go, and what it held is free.
      wakeups.send("signalbox_gate");
      return deferred;
    },
  };
}

function laterTimeOf({ runAt, delayMs }: DeferOptions): LaterTime {
  const refuse = (at: string, problem: string): never => {
    throw new SchedulerError("INVALID_ARGUMENT", { at, problem });
  };
  if (isGiven(runAt) === isGiven(delayMs)) refuse("options", "need runAt or delayMs, and not both");
  if (isGiven(runAt)) {
    if (!isInstant(runAt)) refuse("runAt", NO_INSTANT);
    return { runAt };
  }
  const ms = delayMs ?? 0;
  requireWithin("delayMs", ms, 1, LONGEST_DELAY_MS);
  return { delayMs: ms };
}

/** Takes the id of a task, or of a task run. */
export async function deferOnce(pool: Pool, id: string, time: LaterTime, asked: Asked): Promise<Deferred> {
  const { taskId, taskRunId } = await findTaskRun(pool, id);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const runAt = await pool.transaction(async (tx) => {
      const moved = await deferByHand(tx, taskRunId, time, asked);
      if (moved === null) await refuseUnlessHandedOff(tx, taskRunId, time);
      return moved;
    });
    if (runAt !== null) return { taskId, taskRunId, runAt };
  }
  const problem = "others were changing it each time; call again";
  throw new SchedulerError("NOT_DEFERRABLE", { id: taskRunId, problem });
}

/**
 * Rolls back what the attempt did: one whose time is not ahead stays where it was. What is open and has time ahead became
 * AVAILABLE between two statements, by the hand-off of a settlement, and is tried again.
 */
async function refuseUnlessHandedOff(tx: Transaction, taskRunId: TaskRunId, time: LaterTime): Promise<void> {
  const now = await readWhyNotDeferred(tx, taskRunId, time);
  if (now === null) throw new SchedulerError("TASK_NOT_FOUND", { id: taskRunId });
  const { status, isAhead } = now;
  const isOpen = status === "PENDING" || status === "AVAILABLE";
  if (isOpen && isAhead) return;
  if (isOpen)
    throw new SchedulerError("INVALID_ARGUMENT", {
      at: "runAt",
      problem: "is not ahead; give a later instant",
    });
  const problem =
    status === "RUNNING" ? "it is RUNNING, and only what has not started can be" : `it is ${status}`;
  throw new SchedulerError("NOT_DEFERRABLE", { id: taskRunId, problem });
}
