/** Refuses what does not look as it must, before anything is made of it: with the code of the call, and where. */

import { SchedulerError } from "./errors.ts";
import { isGiven, joinPath, type Shape, text, UNREADABLE } from "./shape.ts";

type Code = "INVALID_ARGUMENT" | "INVALID_TASK" | "INVALID_RULE" | "INVALID_WINDOW" | "INVALID_TEXT";

export function requireShape(code: Code, at: string, value: unknown, shape: Shape): void {
  const misfit = look(value, shape);
  if (misfit !== null)
    throw new SchedulerError(code, { at: joinPath(at, misfit.at), problem: misfit.problem });
}

/** Of an argument whose members are named without it: that is how they are written. `whole` is the argument itself. */
export function requireMembers(code: Code, whole: string, value: unknown, shape: Shape): void {
  const misfit = look(value, shape);
  if (misfit !== null) throw new SchedulerError(code, { at: misfit.at || whole, problem: misfit.problem });
}

/** A getter or a Proxy of the caller's may throw; what it throws is no answer to the call. */
function look(value: unknown, shape: Shape): ReturnType<Shape> {
  try {
    return shape(value);
  } catch {
    return UNREADABLE;
  }
}

/** The same of a last argument, which need not be given. */
export function requireOptions(code: Code, options: unknown, shape: Shape): void {
  if (isGiven(options)) requireMembers(code, "options", options, shape);
}

/** Whether there is such an id is for the database to say. */
export function requireId(at: string, id: unknown): void {
  requireShape("INVALID_ARGUMENT", at, id, text);
}
