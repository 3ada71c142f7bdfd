/**
 * What PostgreSQL can store as JSON and give back unchanged. Checked before anything is written, so
 * that a poison value is one clear sentence to the caller and never a task run that cannot be read.
 */

import { isDate } from "./instant.ts";

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_CHARACTERS = 262_144;
const TOO_LONG = `is more than ${MAX_JSON_CHARACTERS} characters of JSON, which is the most that is stored`;

const LONE_SURROGATE = /\p{Surrogate}/u;
/** Of a member's name that is part of a path: a sentence must stay one that can be read and stored. */
const SHOWN_NAME_CHARACTERS = 60;
const NOT_SHOWN = /[\p{Surrogate}\p{Cc}]/gu;

export type WrittenJson =
  | { readonly kind: "written"; readonly text: string }
  /** `at` is the path to it, "" for the value itself. */
  | { readonly kind: "problem"; readonly at: string; readonly problem: string };

/**
 * Checks a value and writes it, in one look: nobody can change it in between, and whatever a getter, a Proxy or a toJSON
 * would answer the next time, the text is what was checked.
 */
export function writeJson(value: unknown): WrittenJson {
  const look: Look = { path: [], least: 0 };
  try {
    const text = JSON.stringify(copyOf(value, look)) as string | undefined;
    if (text === undefined) return problemAt([], "is written as nothing, which is not JSON");
    return text.length > MAX_JSON_CHARACTERS ? problemAt([], TOO_LONG) : { kind: "written", text };
  } catch (error) {
    if (error instanceof TooLong) return problemAt([], TOO_LONG);
    if (error instanceof NotJson) return problemAt(look.path, error.message);
    // A getter or a toJSON of its own that throws.
    const why = error instanceof Error ? error.message : String(error);
    return problemAt([], `cannot be written as JSON: ${why}`);
  }
}

export function problemWithText(text: string): string | null {
  if (text.includes("\u0000")) return "contains a NUL character, which cannot be stored";
  if (LONE_SURROGATE.test(text)) return "contains half a surrogate pair, which is not text";
  return null;
}

/** From the value itself to what is being copied. */
type Path = (string | number)[];

interface Look {
  readonly path: Path;
  /** It is at least so many characters of JSON, by what was copied so far. */
  least: number;
}

/** Leads out of the depth of a value; the path says where. */
class NotJson extends Error {}
class TooLong extends Error {}

/** Of plain lists and objects, so that to write it asks nobody any more. */
function copyOf(value: unknown, look: Look): unknown {
  if (look.path.length > MAX_JSON_DEPTH)
    throw new NotJson(`is nested more than ${MAX_JSON_DEPTH} levels deep`);
  if (typeof value !== "object" || value === null) return copyOfScalar(value, look);
  const written = asItIsWritten(value, look.path);
  if (typeof written !== "object" || written === null) return copyOfScalar(written, look);
  return Array.isArray(written) ? copyOfList(written, look) : copyOfMembers(written as Members, look);
}

/** A value that is far too long is not copied to its end: a long list or one list in many places would take all memory. */
function count(look: Look, characters: number): void {
  look.least += characters;
  if (look.least > MAX_JSON_CHARACTERS) throw new TooLong();
}

function copyOfScalar(value: unknown, look: Look): unknown {
  const scalar = checkScalar(value);
  count(look, lengthOf(scalar));
  return scalar;
}

function lengthOf(scalar: unknown): number {
  if (typeof scalar === "string") return scalar.length;
  return typeof scalar === "number" ? digitsOf(scalar) : 1;
}

/** As PostgreSQL writes it, and a claim answers it: without an exponent, so that 1e300 takes 301 digits. */
function digitsOf(number: number): number {
  const [digits = "", exponent = "0"] = String(number).split("e");
  return digits.length + Math.abs(Number(exponent));
}

function checkScalar(value: unknown): unknown {
  switch (typeof value) {
    case "string":
      return checkText(value);
    case "number":
      if (!Number.isFinite(value)) throw new NotJson(`${value} is not a JSON number`);
      return value;
    case "bigint":
    case "symbol":
    case "function":
      throw new NotJson(`a ${typeof value} is not JSON`);
    case "boolean":
    case "undefined":
    case "object":
      return value;
  }
}

function checkText(text: string): string {
  const problem = problemWithText(text);
  if (problem !== null) throw new NotJson(problem);
  return text;
}

/** A Date, or whatever else says itself how it is written; and what JSON takes for the value that it wraps. */
function asItIsWritten(object: object, path: Path): unknown {
  if (isDate(object) && Number.isNaN(object.getTime())) throw new NotJson("an invalid Date is not JSON");
  const toJson = "toJSON" in object ? object.toJSON : undefined;
  const value: unknown =
    typeof toJson === "function" ? toJson.call(object, String(path.at(-1) ?? "")) : object;
  const isWrapper = value instanceof String || value instanceof Number || value instanceof Boolean;
  return isWrapper ? value.valueOf() : value;
}

function copyOfList(list: readonly unknown[], look: Look): readonly unknown[] {
  const copy: unknown[] = [];
  // By number, because a list may have holes.
  for (let index = 0; index < list.length; index += 1) {
    look.path.push(index);
    count(look, 1);
    copy.push(copyOf(list[index], look));
    look.path.pop();
  }
  return copy;
}

type Members = Readonly<Record<string, unknown>>;

function copyOfMembers(object: Members, look: Look): Members {
  const names = isWrittenOtherwise(object) ? [] : Object.keys(object);
  if (names.length === 0 && !isPlain(object)) throw notPlain(object);
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    look.path.push(name);
    checkText(name);
    count(look, name.length);
    const value = copyOf(object[name], look);
    // To assign this one would change what the copy is, not what it has.
    if (name === "__proto__") Object.defineProperty(copy, name, { value, enumerable: true });
    else copy[name] = value;
    look.path.pop();
  }
  return copy;
}

/** Of these JSON leaves out what they are about, whatever members they have besides; of bytes it makes no list. */
function isWrittenOtherwise(object: object): boolean {
  return (
    object instanceof Map || object instanceof Set || object instanceof Error || ArrayBuffer.isView(object)
  );
}

/** Not of a class, in whatever realm it was made: nothing can be hidden in it that JSON passes over. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notPlain(object: object): NotJson {
  const { constructor } = object;
  const name = typeof constructor === "function" ? constructor.name : "";
  const what = name === "" ? "a class without a name" : shownName(name);
  return new NotJson(`an instance of ${what} is not JSON; give a plain object, a list or a text`);
}

function problemAt(path: Path, problem: string): WrittenJson {
  const at = path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${shownName(part)}`))
    .join("")
    .replace(/^\./, "");
  return { kind: "problem", at, problem };
}

/** A member's name in a sentence. */
export function shownName(name: string): string {
  const readable = name.slice(0, SHOWN_NAME_CHARACTERS).replaceAll(NOT_SHOWN, "\uFFFD");
  return name.length > SHOWN_NAME_CHARACTERS ? `${readable}…` : readable;
}
