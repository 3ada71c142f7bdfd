/**
 * What a clock on the wall of a time zone shows. A reading is a number like an instant: the milliseconds that
 * UTC would count at the same date and time.
 *
 * Readings are skipped in spring and shown twice in autumn, so a reading belongs to one instant only by a
 * rule. The rule here: the first instant at which the clock shows it or has passed it.
 */

export interface WallClock {
  /** The furthest reading the clock has shown by this instant; a clock that is set back has shown more than it shows. */
  readonly furthestBy: (atMs: number) => number;
  /** The first instant at which the clock shows this reading, or a later one because it was skipped. */
  readonly firstAt: (reading: number) => number;
}

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** Throws a RangeError for a time zone that is not known. */
export function wallClockOf(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const offsetAt = (atMs: number): number => {
    const wholeMs = Math.floor(atMs / SECOND_MS) * SECOND_MS;
    const [month = 1, day, year = 0, hour, minute, second] = Array.from(
      format.format(wholeMs).matchAll(/\d+/g),
      Number,
    );
    return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
  };
  return {
    furthestBy: (atMs) => {
      const { before, after, changeMs } = changeBetween(offsetAt, atMs - DAY_MS, atMs);
      return Math.max(atMs + after, changeMs + before - 1);
    },
    firstAt: (reading) => {
      const { before, after, changeMs } = changeBetween(offsetAt, reading - DAY_MS, reading + DAY_MS);
      return reading - before < changeMs ? reading - before : Math.max(changeMs, reading - after);
    },
  };
}

interface OffsetChange {
  readonly before: number;
  readonly after: number;
  /** The first instant of `after`; the end of the span if nothing changes. */
  readonly changeMs: number;
}

/** No place sets its clock twice within two days, so the two ends tell whether it was set in between. */
function changeBetween(offsetAt: (atMs: number) => number, fromMs: number, toMs: number): OffsetChange {
  const before = offsetAt(fromMs);
  const after = offsetAt(toMs);
  // Clocks are set at whole seconds: with whole seconds left and right, half-way down to one second is exact.
  let lastBefore = Math.floor(fromMs / SECOND_MS);
  let firstAfter = Math.floor(toMs / SECOND_MS);
  if (before === after) return { before, after, changeMs: toMs };
  while (firstAfter - lastBefore > 1) {
    const middle = Math.floor((lastBefore + firstAfter) / 2);
    if (offsetAt(middle * SECOND_MS) === before) lastBefore = middle;
    else firstAfter = middle;
  }
  return { before, after, changeMs: firstAfter * SECOND_MS };
}
