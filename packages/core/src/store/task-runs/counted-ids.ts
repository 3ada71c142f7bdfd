/**
 * The ids of tasks that one statement inserts. It draws one, and all others are counted on from it (ADR 0007): each task has a
 * number, and its first task run the next. So the statement answers with the first id of many.
 */

import { asTaskId, asTaskRunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";

/** What comes before the part that is counted, which is the last eight digits of sixteen. */
export const DRAWN_CHARACTERS = 28;
/** Of these bits of it the first number is drawn. The next is always set: there are eight digits however far it is counted. */
export const DRAWN_BITS = 0x3fff_ffff;
export const SET_BIT = 0x4000_0000;

export interface CountedIds {
  readonly taskId: TaskId;
  readonly taskRunId: TaskRunId;
}

/** Of the task that comes so many after the one with the first id. */
export function idsAfter(first: string, after: number): CountedIds {
  const drawn = first.slice(0, DRAWN_CHARACTERS);
  const number = Number.parseInt(first.slice(DRAWN_CHARACTERS), 16) + 2 * after;
  return {
    taskId: asTaskId(drawn + number.toString(16)),
    taskRunId: asTaskRunId(drawn + (number + 1).toString(16)),
  };
}
