import { isDate } from "./instant.ts";

/** What a value is called in a sentence; never its content, which may be long, secret or not to be shown. */
export function called(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isDate(value)) return "a Date";
  return CALLED[typeof value];
}

/** A number as it is, anything else by what it is called. */
export function numberOrCalled(value: unknown): string {
  return typeof value === "number" ? String(value) : called(value);
}

const CALLED = {
  string: "a text",
  number: "a number",
  bigint: "a bigint",
  boolean: "true or false",
  symbol: "a symbol",
  undefined: "missing",
  object: "an object",
  function: "a function",
} as const;
