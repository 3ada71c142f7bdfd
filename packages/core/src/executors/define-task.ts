/** In-process work: a TypeScript function behind a typed kind. */

import { SchedulerError } from "../domain/errors.ts";
import { requireMembers, requireShape } from "../domain/require-shape.ts";
import { callable, having, isGiven, objectOf, openObjectOf, text } from "../domain/shape.ts";
import { requireName, type TaskSpec } from "../domain/task-spec.ts";
import type { PollAnswer, RetryDecision } from "./answers.ts";
import type { ExecutionContext, Executor } from "./executor.ts";
import { issuePath, type StandardSchema } from "./standard-schema.ts";

/** A spec that was made by `task()`: the kind and the input are right by type. */
export type TaskOptions = Omit<TaskSpec, "kind" | "input">;

/** A kind of task: give it to `createScheduler`, and enqueue what its `task()` makes. */
export interface TaskDefinition<Input> extends Executor {
  /** Says what is to be done, ready for `enqueue`. */
  task(input: Input, options?: TaskOptions): TaskSpec;
}

interface TaskParts<Parsed> {
  readonly kind: string;
  /** Its result is the output. Throw to fail the attempt; a NonRetryableError ends the task. */
  readonly run: (input: Parsed, context: ExecutionContext) => unknown;
  /** Whether an error is worth another attempt, at once and not by a promise. Not asked where the error itself says so. Default: always. */
  readonly retryOn?: (error: unknown, attempt: number) => RetryDecision;
  /** For a `run` that may return `letGo(…)`. */
  readonly poll?: (handle: unknown, context: ExecutionContext) => Promise<PollAnswer>;
  readonly cancelOutside?: (handle: unknown, context: ExecutionContext) => Promise<void>;
}

const DEFINITION = objectOf<TaskParts<unknown> & { readonly schema: unknown }>(
  {
    kind: text,
    run: callable,
    retryOn: callable,
    poll: callable,
    cancelOutside: callable,
    schema: having("~standard", "object", "a schema of a library that speaks Standard Schema"),
  },
  ["kind", "run"],
);
const ANY_OBJECT = openObjectOf({}, []);

/**
 * Defines a kind of task that runs as a function in this process. With a `schema` (any Standard Schema
 * library) the input is checked when it is enqueued and again before the function sees it.
 */
export function defineTask<Input, Parsed>(
  definition: TaskParts<Parsed> & { readonly schema: StandardSchema<Input, Parsed> },
): TaskDefinition<Input>;
export function defineTask<Input = unknown>(definition: TaskParts<Input>): TaskDefinition<Input>;
export function defineTask<Input, Parsed>(
  definition: TaskParts<Parsed> & { readonly schema?: StandardSchema<Input, Parsed> },
): TaskDefinition<Input> {
  requireMembers("INVALID_ARGUMENT", "definition", definition, DEFINITION);
  requireKind(definition.kind);
  const { kind, schema, run, retryOn, poll, cancelOutside } = definition;
  const parse = async (input: unknown): Promise<Parsed> => {
    if (!isGiven(schema)) return input as Parsed;
    const result = await schema["~standard"].validate(input);
    if (result.issues === undefined) return result.value;
    const [first] = result.issues;
    const at = first === undefined ? "" : issuePath(first);
    throw new SchedulerError("INVALID_INPUT", {
      kind,
      at,
      problem: first?.message ?? "refused by its schema",
    });
  };
  return {
    kind,
    task: taskOf(kind),
    checkInput: async (input) => {
      await parse(input);
    },
    execute: isGiven(schema)
      ? async (input, context) => await run(await parse(input), context)
      : (input, context) => promiseOf(() => run(input as Parsed, context)),
    ...(isGiven(retryOn) ? { decideRetry: retryOn } : {}),
    ...(isGiven(poll) ? { poll } : {}),
    ...(isGiven(cancelOutside) ? { cancelOutside } : {}),
  };
}

/** As an async function would make one, without a turn of its own for every task: most handlers are one already, or answer at once. */
function promiseOf(act: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(act());
  } catch (error) {
    return Promise.reject(error);
  }
}

export function requireKind(kind: string): void {
  requireName(kind, (problem) => {
    throw new SchedulerError("INVALID_ARGUMENT", { at: "kind", problem });
  });
}

/** What the options are is looked at when it is enqueued; of what is no object nothing would be left until then. */
export function taskOf<Input>(kind: string): TaskDefinition<Input>["task"] {
  return (input, options) => {
    if (isGiven(options)) requireShape("INVALID_TASK", "options", options, ANY_OBJECT);
    return { ...options, kind, input };
  };
}

/** Thrown by a task whose next attempt would fail in the same way: no further attempt is made. */
export class NonRetryableError extends Error {
  override readonly name = "NonRetryableError";
}
