/**
 * What PostgreSQL can store as JSON and give back unchanged. Checked before anything is written, so
 * that a poison value is one clear sentence to the caller and never a task run that cannot be read.
 */

export interface JsonProblem {
  /** Path to the value, "" for the value itself. */
  readonly at: string;
  readonly problem: string;
}

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_CHARACTERS = 262_144;

const LONE_SURROGATE = /\p{Surrogate}/u;
/** Of a member's name that is part of a path: a sentence must stay one that can be read and stored. */
const SHOWN_NAME_CHARACTERS = 60;
const NOT_SHOWN = /[\p{Surrogate}\p{Cc}]/gu;

export function problemWithJson(value: unknown): JsonProblem | null {
  try {
    return problemInside(value, "", 0) ?? problemWithSize(value);
  } catch (error) {
    // A getter or a toJSON of its own that throws.
    const why = error instanceof Error ? error.message : String(error);
    return { at: "", problem: `cannot be written as JSON: ${why}` };
  }
}

function problemWithSize(value: unknown): JsonProblem | null {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return { at: "", problem: "is written as nothing, which is not JSON" };
  if (text.length <= MAX_JSON_CHARACTERS) return null;
  return {
    at: "",
    problem: `is ${text.length} characters of JSON, at most ${MAX_JSON_CHARACTERS} are stored`,
  };
}

function problemInside(value: unknown, at: string, depth: number): JsonProblem | null {
  if (depth > MAX_JSON_DEPTH) return { at, problem: `is nested more than ${MAX_JSON_DEPTH} levels deep` };
  if (value === null || value === undefined || typeof value === "boolean") return null;
  if (typeof value === "string") return problemWithText(value, at);
  if (typeof value === "object") return problemWithObject(value, at, depth);
  if (typeof value !== "number") return { at, problem: `a ${typeof value} is not JSON` };
  return Number.isFinite(value) ? null : { at, problem: `${value} is not a JSON number` };
}

function problemWithText(text: string, at: string): JsonProblem | null {
  if (text.includes("\u0000")) return { at, problem: "contains a NUL character, which cannot be stored" };
  if (LONE_SURROGATE.test(text)) return { at, problem: "contains half a surrogate pair, which is not text" };
  return null;
}

function problemWithObject(value: object, at: string, depth: number): JsonProblem | null {
  // A Date, or whatever else says how it wants to be written: that is what must be right.
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const written: unknown = value.toJSON("");
    const isObject = typeof written === "object" && written !== null;
    return isObject ? problemWithMembers(written, at, depth) : problemInside(written, at, depth);
  }
  return problemWithMembers(value, at, depth);
}

function problemWithMembers(value: object, at: string, depth: number): JsonProblem | null {
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    const where = typeof key === "number" ? `${at}[${key}]` : `${at === "" ? "" : `${at}.`}${shownName(key)}`;
    const found =
      (typeof key === "string" ? problemWithText(key, where) : null) ??
      problemInside(inner, where, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** A member's name in a sentence. */
export function shownName(name: string): string {
  const readable = name.slice(0, SHOWN_NAME_CHARACTERS).replaceAll(NOT_SHOWN, "\uFFFD");
  return name.length > SHOWN_NAME_CHARACTERS ? `${readable}…` : readable;
}
