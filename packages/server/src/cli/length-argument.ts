/** Lengths and instants as they are typed. */

import { InvalidArgumentError } from "commander";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
/** What a timer can wait for. */
const LONGEST_MS = 2 ** 31 - 1;

/** "500ms", "30s", "5m", "2h", "1d"; null: it is none. */
export function parseLength(text: string): number | null {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** Null also for what only looks like one: JavaScript takes the 31st of February for the 3rd of March. */
export function parseInstant(text: string): Date | null {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (year === undefined) return null;
  const at = new Date(text);
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(at.getTime()) || !isDay ? null : at;
}

/** An option's value. */
export function lengthMs(text: string): number {
  const length = parseLength(text);
  if (length !== null && length > 0 && length <= LONGEST_MS) return length;
  throw new InvalidArgumentError("Give a length such as 500ms, 30s, 5m, 2h or 1d, at most 24d.");
}

/** An option's value: an instant, or a length ago. */
export function since(text: string): Date {
  const length = parseLength(text);
  const at = length === null ? parseInstant(text) : new Date(Date.now() - length);
  if (at !== null && !Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError("Give an instant such as 2026-11-16T12:00:00Z, or a length ago such as 1h.");
}
