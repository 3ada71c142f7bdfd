/** What an idempotency key may be, and what it is bound to: the request that came with it. Pure. */

import { canonicalJson } from "./canonical-json.ts";
import { SchedulerError } from "./errors.ts";
import type { ResolvedTask } from "./task-spec.ts";

/** How long the answer to a key is remembered at least. */
export const KEEP_KEYS_MS = 2_592_000_000;

const MAX_KEY_CHARACTERS = 200;
// What an HTTP header carries unchanged, so that a key means the same to the library and to the API.
const KEY = /^[\x21-\x7e]+$/;

export function requireKey(key: string): void {
  if (key.length <= MAX_KEY_CHARACTERS && KEY.test(key)) return;
  throw new SchedulerError("INVALID_TASK", {
    at: "idempotencyKey",
    problem: `needs between 1 and ${MAX_KEY_CHARACTERS} characters of printable ASCII, without spaces`,
  });
}

/**
 * One text for requests that ask for the same. Of the resolved tasks, so that a default counts as what it stands for;
 * without what says nothing, so that a field of a later version does not change requests that do not use it.
 */
export function canonicalRequest(request: {
  readonly tasks: readonly ResolvedTask[];
  readonly run: { readonly title: string; readonly limit: number } | null;
}): string {
  const tasks = request.tasks.map(({ inputJson, ...settings }) => ({
    input: JSON.parse(inputJson) as unknown,
    settings: withoutBlanks(settings),
  }));
  return canonicalJson({ tasks, run: request.run });
}

function withoutBlanks(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(withoutBlanks);
  const told = Object.entries(value)
    .map(([key, inner]): [string, unknown] => [key, withoutBlanks(inner)])
    .filter(([, inner]) => !isBlank(inner));
  return Object.fromEntries(told);
}

function isBlank(value: unknown): boolean {
  return (
    value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)
  );
}
