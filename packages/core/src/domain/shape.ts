/**
 * What an argument must look like, said once as a value: types by the compiler are no help to a caller who writes
 * JavaScript, and a misspelled member would be passed over in silence. Ranges and names are checked elsewhere.
 */

import { called } from "./called.ts";
import { isDate } from "./instant.ts";
import { shownName } from "./json-value.ts";

/** Where it does not fit ("" is the value itself), and what to give instead. */
interface Misfit {
  readonly at: string;
  readonly problem: string;
}

/** What throws when it is looked at: it may do so again, so nothing of it is shown. */
export const UNREADABLE: Misfit = { at: "", problem: "throws when it is read; give a plain value" };

export function isReadable(value: unknown): boolean {
  try {
    if (isObject(value)) Object.entries(value);
    return true;
  } catch {
    return false;
  }
}

/** Null: it fits. Nothing is made for what fits: a thousand specs go through here at once. */
export type Shape = (value: unknown) => Misfit | null;

function shapeOf(wanted: string, fits: (value: unknown) => boolean): Shape {
  return (value) => (fits(value) ? null : { at: "", problem: `is ${called(value)}; give ${wanted}` });
}

export const anything: Shape = () => null;
export const text: Shape = shapeOf("a text", (value) => typeof value === "string");
export const number: Shape = shapeOf("a number", (value) => typeof value === "number");
export const flag: Shape = shapeOf("true or false", (value) => typeof value === "boolean");
export const callable: Shape = shapeOf("a function", (value) => typeof value === "function");
export const instant: Shape = shapeOf("a Date", isDate);
export const abortSignal: Shape = shapeOf("an AbortSignal", (value) => value instanceof AbortSignal);

/** Anything that has this member: an object of a library of the caller's, also one that can be called. */
export function having(member: string, type: "function" | "object", wanted: string): Shape {
  const holds = (value: unknown): boolean => isObject(value) || typeof value === "function";
  return shapeOf(
    wanted,
    // oxlint-disable-next-line valid-typeof -- one of two that are
    (value) => holds(value) && typeof (value as Readonly<Record<string, unknown>>)[member] === type,
  );
}

export function listOf(item: Shape, wanted: string): Shape {
  const isList = shapeOf(wanted, Array.isArray);
  return (value) => {
    const misfit = isList(value);
    if (misfit !== null) return misfit;
    const items = value as readonly unknown[];
    // By number, because a list may have holes.
    for (let index = 0; index < items.length; index += 1) {
      const wrong = item(items[index]);
      if (wrong !== null) return { at: joinPath(`[${index}]`, wrong.at), problem: wrong.problem };
    }
    return null;
  };
}

type Members<Type> = { readonly [Name in keyof Required<Type>]: Shape };

/** An object of these members and no others. Null counts as not given, as undefined does. */
export function objectOf<Type extends object>(
  members: Members<Type>,
  required: readonly (keyof Type & string)[] = [],
): Shape {
  const fit = membersFit(members, required);
  const names = Object.keys(members);
  // First what is misspelled: without it something else may seem to be missing.
  return (value) => (isObject(value) ? unknownMember(value, names) : null) ?? fit(value);
}

/** The same of an object that may have more: a caller's own class. */
export function openObjectOf(members: Readonly<Record<string, Shape>>, required: readonly string[]): Shape {
  return membersFit(members, required);
}

function membersFit(members: Readonly<Record<string, Shape>>, required: readonly string[]): Shape {
  const needs = required.length === 0 ? "" : ` with ${required.join(" and ")}`;
  const known = Object.entries(members).map(([name, shape]) => ({
    name,
    shape,
    isRequired: required.includes(name),
  }));
  return (value) => {
    if (!isObject(value)) return { at: "", problem: `is ${called(value)}; give an object${needs}` };
    for (const { name, shape, isRequired } of known) {
      const member = value[name];
      const wrong = isGiven(member) || isRequired ? shape(member) : null;
      if (wrong !== null) return { at: joinPath(name, wrong.at), problem: wrong.problem };
    }
    return null;
  };
}

function unknownMember(value: Readonly<Record<string, unknown>>, names: readonly string[]): Misfit | null {
  for (const name in value)
    if (!names.includes(name) && isGiven(value[name])) return { at: "", problem: unknownName(name, names) };
  return null;
}

export function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isDate(value);
}

export function joinPath(outer: string, inner: string): string {
  return outer === "" || inner === "" || inner.startsWith("[") ? `${outer}${inner}` : `${outer}.${inner}`;
}

function unknownName(name: string, names: readonly string[]): string {
  const meant = names.find((each) => isNear(name, each));
  const hint = meant === undefined ? `there are only ${names.join(", ")}` : `did you mean ${meant}?`;
  return `has no ${shownName(name)}; ${hint}`;
}

const MOST_SLIPS = 2;

/** Two slips of the pen at most, and never so many that it is another word. */
function isNear(given: string, known: string): boolean {
  const [a, b] = [given.toLowerCase(), known.toLowerCase()];
  const most = Math.min(MOST_SLIPS, Math.floor(b.length / 3));
  return Math.abs(a.length - b.length) <= most && slipsBetween(a, b) <= most;
}

/** How many letters must be put in, left out or exchanged. */
function slipsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split("").entries()) {
      const exchanged = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
