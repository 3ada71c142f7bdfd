/** Ids as people have them at hand: whole, their beginning, or the address of a page of the dashboard. */

import { UsageError } from "../usage-error.ts";

/** Ids begin with the time: fewer characters name all of a day. */
const FEWEST = 4;
const ID = /^[0-9a-f]{1,8}(-?[0-9a-f]{1,4}){0,3}(-?[0-9a-f]{1,12})?-?$/i;
const FULL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function taskRunIdOf(given: string): string {
  return idOf(given, ["task-runs", "tasks"], "a task or task run");
}

export function runIdOf(given: string): string {
  return idOf(given, ["runs"], "a run");
}

export function operationIdOf(given: string): string {
  return idOf(given, ["operations"], "an operation");
}

export function isFullId(id: string): boolean {
  return FULL.test(id);
}

function idOf(given: string, pages: readonly string[], of: string): string {
  const text = given.trim();
  const id = /^https?:\/\//i.test(text) ? idInAddress(text, pages, of) : text;
  if (id === "") throw new UsageError(`The id is empty; give that of ${of}, or its beginning`);
  if (!ID.test(id)) {
    throw new UsageError(
      `"${id.slice(0, 100)}" is not the id of ${of}; ids look like 019a8c3e-5d21-7abc-8def-000000000001`,
    );
  }
  if (id.replaceAll("-", "").length < FEWEST) {
    throw new UsageError(`"${id}" is too short to name ${of}; give at least ${FEWEST} characters of its id`);
  }
  return id.toLowerCase();
}

function idInAddress(text: string, pages: readonly string[], of: string): string {
  const parts = URL.canParse(text) ? new URL(text).pathname.split("/").filter((part) => part !== "") : [];
  const at = parts.findLastIndex((part) => pages.includes(part));
  const id = at === -1 ? undefined : parts[at + 1];
  if (id !== undefined) return decodeURIComponentOr(id);
  throw new UsageError(`The address is not that of ${of}; it has no /${pages[0] ?? ""}/<id> in it`);
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Just above every id that begins with it, and itself an id: `before` of a page that begins with those. */
export function idAbove(prefix: string): string {
  const highest = "ffffffffffff7fffbfffffffffffffff";
  const digits = prefix.replaceAll("-", "");
  const all = digits + highest.slice(digits.length);
  return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join("-");
}
