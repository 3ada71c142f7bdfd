/**
 * When a recurring window opens: a cron expression read on the wall clock of a time zone.
 *
 * An expression that names its hours ("30 2 * * *") opens once for each time it names: when the clock first
 * shows it, and when the clock skips it, at the change. One that means every hour ("0 * * * *") opens
 * whenever the clock shows it, so also in the hour that comes twice: a freeze of each hour's first minutes
 * would otherwise be missing for an hour.
 */

import { Cron, CronPattern } from "croner";
import { wallClockOf } from "./wall-clock.ts";

export interface Openings {
  readonly latestBy: (atMs: number) => number | null;
  readonly nextAfter: (atMs: number) => number | null;
}

const MODE = "5-or-6-parts";
const EVERY_HOUR = /^[*?]/;
const SECOND_MS = 1_000;
// Windows come from the database anew for each pass, and reading an expression costs more than asking it. One that
// was read takes 80 kB.
const COMPILED_AT_MOST = 200;
const compiled = new Map<string, Openings>();

export function isCron(opens: string): boolean {
  try {
    return new CronPattern(opens, undefined, { mode: MODE }).pattern === opens;
  } catch {
    return false;
  }
}

/** Throws for what `isCron` refuses, and for an unknown time zone. */
export function openingsOf(opens: string, timeZone: string): Openings {
  const key = `${opens} ${timeZone}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const openings = EVERY_HOUR.test(opens.split(" ").at(-4) ?? "")
    ? openingsByInstant(opens, timeZone)
    : openingsByReading(opens, timeZone);
  if (compiled.size >= COMPILED_AT_MOST) compiled.clear();
  compiled.set(key, openings);
  return openings;
}

function openingsByInstant(opens: string, timeZone: string): Openings {
  return matchesOf(new Cron(opens, { mode: MODE, timezone: timeZone }));
}

function openingsByReading(opens: string, timeZone: string): Openings {
  const clock = wallClockOf(timeZone);
  const readings = matchesOf(new Cron(opens, { mode: MODE, utcOffset: 0 }));
  const toInstant = (reading: number | null): number | null =>
    reading === null ? null : clock.firstAt(reading);
  return {
    latestBy: (atMs) => toInstant(readings.latestBy(clock.furthestBy(atMs))),
    nextAfter: (atMs) => toInstant(readings.nextAfter(clock.furthestBy(atMs))),
  };
}

/** Always asked about a given instant, so that the clock of this process has no say. */
function matchesOf(cron: Cron): Openings {
  const wholeSecond = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;
  return {
    // Croner looks before the second it is given, whatever its milliseconds.
    latestBy: (ms) => cron.previousRuns(1, new Date(wholeSecond(ms) + SECOND_MS))[0]?.getTime() ?? null,
    nextAfter: (ms) => cron.nextRun(new Date(wholeSecond(ms)))?.getTime() ?? null,
  };
}
