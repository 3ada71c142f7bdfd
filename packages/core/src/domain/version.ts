import { SchedulerError } from "./errors.ts";

/** Dotted integers, "20261115.3". Compared part by part, so 1.10 comes after 1.9 and 1 before 1.0. */
export type Version = string;

const DOTTED_INTEGERS = /^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*$/;
/** The largest number a part can be stored as (bigint). */
const LARGEST_PART = 9_223_372_036_854_775_807n;

export function parseVersion(text: string): Version {
  const valid =
    text.length <= 200 &&
    DOTTED_INTEGERS.test(text) &&
    text.split(".").every((part) => BigInt(part) <= LARGEST_PART);
  if (!valid) throw new SchedulerError("INVALID_VERSION", { version: text });
  return text;
}

export function compareVersions(a: Version, b: Version): number {
  if (a === b) return 0;
  const left = a.split(".");
  const right = b.split(".");
  for (const [i, x] of left.entries()) {
    const y = right[i];
    if (y === undefined) return 1;
    if (x !== y) return compareParts(x, y);
  }
  return left.length - right.length;
}

/** Integers without leading zeros: the longer one is the larger one. */
function compareParts(x: string, y: string): number {
  if (x.length !== y.length) return x.length - y.length;
  return x < y ? -1 : 1;
}
