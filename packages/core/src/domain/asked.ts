/** Who asks for a cancel, a retry or a rule, and why: shown to others later, so it must be a text that can be stored and read. */

import { SchedulerError } from "./errors.ts";
import { problemWithText } from "./json-value.ts";
import { requireOptions } from "./require-shape.ts";
import { isGiven, objectOf, text } from "./shape.ts";
import { requireName } from "./task-spec.ts";

export interface Asked {
  readonly by: string | null;
  readonly reason: string | null;
}

const MAX_REASON_CHARACTERS = 2_000;

interface AskedBy {
  readonly by?: string;
}

interface AskedWhy extends AskedBy {
  readonly reason?: string;
}

const ASKED_BY = objectOf<AskedBy>({ by: text });
const ASKED_WHY = objectOf<AskedWhy>({ by: text, reason: text });

export function resolveAsked(options?: AskedWhy): Asked {
  requireOptions("INVALID_TEXT", options, ASKED_WHY);
  return { by: resolveBy(options?.by), reason: resolveReason(options?.reason) };
}

/** Where nobody asks why. */
export function resolveAskedBy(options?: AskedBy): Asked["by"] {
  requireOptions("INVALID_TEXT", options, ASKED_BY);
  return resolveBy(options?.by);
}

function resolveBy(by: string | undefined): string | null {
  if (isGiven(by)) requireName(by, (problem) => refuse("by", problem));
  return by ?? null;
}

function resolveReason(reason: string | undefined): string | null {
  if (!isGiven(reason)) return null;
  // Several lines are fine: it is a text, not a name.
  if (reason.length > MAX_REASON_CHARACTERS)
    refuse("reason", `is longer than ${MAX_REASON_CHARACTERS} characters`);
  const poison = problemWithText(reason);
  if (poison !== null) refuse("reason", poison);
  return reason;
}

function refuse(at: string, problem: string): never {
  throw new SchedulerError("INVALID_TEXT", { at, problem });
}
