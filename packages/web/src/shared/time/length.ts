/** Lengths as people say them, in their language. */

import { numberFormat, relativeFormat } from "./formats.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type UnitName = "millisecond" | "second" | "minute" | "hour" | "day";

/** "340 ms", "3.6 s", "42 s", "4 min 12 s", "2 h 14 min". Never negative: clocks differ. */
export function lengthText(ms: number, locale: string): string {
  const length = Math.max(0, ms);
  if (length < SECOND_MS) return unitText(Math.round(length), "millisecond", locale);
  if (length < 10 * SECOND_MS) return unitText(Math.floor(length / 100) / 10, "second", locale);
  return steadyText(length, locale);
}

/** Whole seconds: what a ticking clock shows. */
export function steadyText(ms: number, locale: string): string {
  const length = Math.max(0, ms);
  if (length < MINUTE_MS) return unitText(Math.floor(length / SECOND_MS), "second", locale);
  if (length < HOUR_MS) return twoUnits(length, [MINUTE_MS, "minute"], [SECOND_MS, "second"], locale);
  if (length < DAY_MS) return twoUnits(length, [HOUR_MS, "hour"], [MINUTE_MS, "minute"], locale);
  return twoUnits(length, [DAY_MS, "day"], [HOUR_MS, "hour"], locale);
}

/** "4 min. ago", "in 12 sec." */
export function relativeText(aheadMs: number, locale: string): string {
  const format = relativeFormat(locale, { style: "short", numeric: "auto" });
  const length = Math.abs(aheadMs);
  const sign = aheadMs > 0 ? 1 : -1;
  if (length < MINUTE_MS) return format.format(sign * Math.floor(length / SECOND_MS), "second");
  if (length < HOUR_MS) return format.format(sign * Math.floor(length / MINUTE_MS), "minute");
  if (length < DAY_MS) return format.format(sign * Math.floor(length / HOUR_MS), "hour");
  return format.format(sign * Math.floor(length / DAY_MS), "day");
}

type Unit = readonly [ms: number, name: UnitName];

function twoUnits(length: number, [bigMs, big]: Unit, [smallMs, small]: Unit, locale: string): string {
  const rest = Math.floor((length % bigMs) / smallMs);
  const whole = unitText(Math.floor(length / bigMs), big, locale);
  return rest === 0 ? whole : `${whole} ${unitText(rest, small, locale)}`;
}

function unitText(value: number, unit: UnitName, locale: string): string {
  return numberFormat(locale, { style: "unit", unit, unitDisplay: "short" }).format(value);
}
