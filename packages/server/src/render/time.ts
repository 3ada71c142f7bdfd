/** Lengths and instants as people say them. */

import type { Look } from "./look.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "3.6 s", "42 s", "4 min 12 s", "2 h 14 min", "3 d 2 h". Never negative: clocks differ. */
export function lengthText(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 10 * SECOND_MS) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  if (length < MINUTE_MS) return `${Math.floor(length / SECOND_MS)} s`;
  if (length < HOUR_MS) return twoUnits(length, [MINUTE_MS, "min"], [SECOND_MS, "s"]);
  if (length < DAY_MS) return twoUnits(length, [HOUR_MS, "h"], [MINUTE_MS, "min"]);
  return twoUnits(length, [DAY_MS, "d"], [HOUR_MS, "h"]);
}

export function sinceText(since: string, now: string): string {
  return lengthText(Date.parse(now) - Date.parse(since));
}

/** "in 12 s", or "4 s ago". */
export function relativeText(at: string, now: string): string {
  const aheadMs = Date.parse(at) - Date.parse(now);
  return aheadMs > 0 ? `in ${lengthText(aheadMs)}` : `${lengthText(-aheadMs)} ago`;
}

/** "12:04:31", with the day where it is not today's. */
export function clockText(at: string, now: string, look: Look): string {
  const day = dayOf(at, look);
  const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", ...zoneOf(look) }).format(
    new Date(at),
  );
  return day === dayOf(now, look) ? time : `${day} ${time}`;
}

function dayOf(at: string, look: Look): string {
  // Swedish dates are ISO dates.
  return new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", ...zoneOf(look) }).format(new Date(at));
}

function zoneOf({ timeZone }: Look): { readonly timeZone?: string } {
  return timeZone === undefined ? {} : { timeZone };
}

type Unit = readonly [ms: number, name: string];

function twoUnits(length: number, [bigMs, big]: Unit, [smallMs, small]: Unit): string {
  const rest = Math.floor((length % bigMs) / smallMs);
  const whole = `${Math.floor(length / bigMs)} ${big}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}
