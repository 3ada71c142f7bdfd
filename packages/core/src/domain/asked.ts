/** Who asks for a cancel, a retry or a rule, and why: shown to others later, so it must be a text that can be stored and read. */

import { SchedulerError } from "./errors.ts";
import { problemWithJson } from "./json-value.ts";
import { requireName } from "./task-spec.ts";

export interface Asked {
  readonly by: string | null;
  readonly reason: string | null;
}

const MAX_REASON_CHARACTERS = 2_000;

export function resolveAsked({ by, reason }: { readonly by?: string; readonly reason?: string } = {}): Asked {
  if (by !== undefined) requireName(by, (problem) => refuse("by", problem));
  if (reason !== undefined) {
    // Several lines are fine: it is a text, not a name.
    if (reason.length > MAX_REASON_CHARACTERS)
      refuse("reason", `is longer than ${MAX_REASON_CHARACTERS} characters`);
    const poison = problemWithJson(reason);
    if (poison !== null) refuse("reason", poison.problem);
  }
  return { by: by ?? null, reason: reason ?? null };
}

function refuse(at: string, problem: string): never {
  throw new SchedulerError("INVALID_TEXT", { at, problem });
}
