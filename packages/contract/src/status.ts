import {
  RUN_STATUSES,
  type RunStatus,
  TASK_RUN_STATUSES,
  TASK_STATUSES,
  type TaskRunStatus,
  type TaskStatus,
} from "@signalbox/core/domain";
import { z } from "zod";

export const taskRunStatus = z.enum(asEnum<TaskRunStatus>(TASK_RUN_STATUSES));
export const runStatus = z.enum(asEnum<RunStatus>(RUN_STATUSES));
export const taskStatus = z.enum(asEnum<TaskStatus>(TASK_STATUSES));

// The lists of core are complete by type where they are declared; zod wants them keyed by name.
export function asEnum<Name extends string>(names: readonly Name[]): { readonly [N in Name]: N } {
  return Object.fromEntries(names.map((name) => [name, name])) as { readonly [N in Name]: N };
}
