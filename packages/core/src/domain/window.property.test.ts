/**
 * Random windows around changes of the clock, judged twice: by `judgeWindows`, and by an oracle that walks from
 * minute to minute, looks at what `Intl` shows, and marks the minutes each window covers. The oracle knows the
 * generated fields as sets of numbers; it reads no cron expression and searches nothing.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeWindows, type Window, type WindowVerdict } from "./window.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** A walk begins four days before the change, so that windows of up to two days have begun, and ends six days after it. */
const WALK_MINUTES = 10 * DAY_MINUTES;
const CHANGE_MINUTE = 4 * DAY_MINUTES;
/** How far `judgeWindows` looks at the least: 400 edges of windows that last a minute or more. */
const IN_SIGHT_MINUTES = 400;

/** With the hours the clock shows around it, where mistakes would be. */
const CHANGES = [
  { timeZone: "Europe/Berlin", changeAt: "2026-03-29T01:00:00.000Z", hours: [1, 2, 3] },
  { timeZone: "Europe/Berlin", changeAt: "2026-10-25T01:00:00.000Z", hours: [1, 2, 3] },
  { timeZone: "America/New_York", changeAt: "2027-03-14T07:00:00.000Z", hours: [1, 2, 3] },
  { timeZone: "America/New_York", changeAt: "2026-11-01T06:00:00.000Z", hours: [0, 1, 2] },
  // By half an hour only.
  { timeZone: "Australia/Lord_Howe", changeAt: "2026-04-04T15:00:00.000Z", hours: [1, 2] },
  { timeZone: "Australia/Lord_Howe", changeAt: "2026-10-03T15:30:00.000Z", hours: [1, 2] },
  // At the end of a day: its last hour is skipped, or comes twice.
  { timeZone: "America/Nuuk", changeAt: "2026-03-29T01:00:00.000Z", hours: [22, 23, 0] },
  { timeZone: "America/Nuuk", changeAt: "2026-10-25T01:00:00.000Z", hours: [22, 23, 0] },
  // Never.
  { timeZone: "Asia/Kolkata", changeAt: "2026-10-25T01:00:00.000Z", hours: [6] },
];

interface Fields {
  readonly opens: string;
  readonly everyHour: boolean;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
}

interface Drawn {
  readonly window: Window;
  /** `null`: it is there once. */
  readonly fields: Fields | null;
}

interface Minute {
  readonly frozen: boolean;
  readonly open: boolean;
}

const within = (minutes: number) =>
  fc.integer({ min: CHANGE_MINUTE - minutes, max: CHANGE_MINUTE + minutes });
const listed = (values: readonly number[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const stepped = (step: number, end: number) => ({
  text: `*/${step}`,
  values: upTo(end).filter((value) => value % step === 0),
});
const oneOf = (values: readonly number[]) =>
  listed(values).map((some) => ({ text: some.join(","), values: some }));
const everyDay = fc.constant({ text: "*", values: upTo(7) });
const fieldsNear = (hours: readonly number[]): fc.Arbitrary<Fields> =>
  fc
    .record({
      minute: fc.oneof(oneOf([0, 15, 30, 59]), fc.constantFrom(stepped(1, 60), stepped(20, 60))),
      hour: fc.oneof(
        { weight: 3, arbitrary: oneOf(hours) },
        { weight: 1, arbitrary: oneOf(upTo(24)) },
        { weight: 1, arbitrary: fc.constantFrom(stepped(1, 24), stepped(2, 24)) },
      ),
      weekday: fc.oneof({ weight: 2, arbitrary: everyDay }, { weight: 1, arbitrary: oneOf(upTo(7)) }),
    })
    .map(({ minute, hour, weekday }) => ({
      opens: `${minute.text} ${hour.text} * * ${weekday.text}`,
      everyHour: hour.text.startsWith("*"),
      minutes: new Set(minute.values),
      hours: new Set(hour.values),
      weekdays: new Set(weekday.values),
    }));

const drawing = fc.constantFrom(...CHANGES).chain(({ timeZone, changeAt, hours }) => {
  const startMs = Date.parse(changeAt) - CHANGE_MINUTE * MINUTE_MS;
  const kind = fc.constantFrom("maintenance" as const, "freeze" as const);
  const recurring: fc.Arbitrary<Drawn> = fc
    .record({
      kind,
      fields: fieldsNear(hours),
      lasts: fc.constantFrom(1, 7, 30, 60, 61, 120, 600, DAY_MINUTES, 2 * DAY_MINUTES),
    })
    .map(({ kind, fields, lasts }) => ({
      window: { kind, opens: fields.opens, lastsMs: lasts * MINUTE_MS, timeZone },
      fields,
    }));
  const once: fc.Arbitrary<Drawn> = fc
    .record({ kind, from: fc.nat(WALK_MINUTES), lasts: fc.integer({ min: 1, max: 3 * DAY_MINUTES }) })
    .map(({ kind, from, lasts }) => ({
      window: { kind, from: isoAt(startMs, from), until: isoAt(startMs, from + lasts) },
      fields: null,
    }));
  return fc.record({
    timeZone: fc.constant(timeZone),
    startMs: fc.constant(startMs),
    drawn: fc.array(fc.oneof({ weight: 3, arbitrary: recurring }, { weight: 1, arbitrary: once }), {
      maxLength: 3,
    }),
    minute: fc.oneof(within(90), within(90), within(DAY_MINUTES)),
    withinMs: fc.constantFrom(0, 1, 30_500, 59_999),
  });
});

describe("windows around a change of the clock", () => {
  it("are judged as by walking from minute to minute", () => {
    let opened = 0;
    let closed = 0;
    const property = fc.property(drawing, ({ timeZone, startMs, drawn, minute, withinMs }) => {
      const windows = drawn.map(({ window }) => window);
      const walk = walkOf(drawn, readingsOf(timeZone, startMs), startMs);
      const nowMs = startMs + minute * MINUTE_MS + withinMs;

      const verdict = judgeWindows(windows, new Date(nowMs));

      expect(verdict.kind === "open").toBe(walk[minute]?.open);
      if (verdict.kind === "open") {
        opened++;
        expectClosing(windows, verdict, walk, { startMs, minute });
      } else {
        closed++;
        expect(verdict.because.kind === "freeze").toBe(walk[minute]?.frozen);
        expectOpening(verdict, walk, { startMs, minute });
      }
    });
    fc.assert(property, { numRuns: 200 });

    // A property that only ever saw one of the two would prove nothing.
    expect(Math.min(opened, closed)).toBeGreaterThan(20);
  }, 30_000);
});

interface Place {
  readonly startMs: number;
  readonly minute: number;
}

/** `until` may be early where windows follow one another without a gap; asking again there leads to the true end. */
function expectClosing(
  windows: readonly Window[],
  verdict: WindowVerdict & { kind: "open" },
  walk: readonly Minute[],
  { startMs, minute }: Place,
): void {
  const endMs = startMs + WALK_MINUTES * MINUTE_MS;
  let untilMs = verdict.until?.getTime() ?? Infinity;
  while (untilMs < endMs) {
    const next = judgeWindows(windows, new Date(untilMs));
    if (next.kind === "closed") break;
    const laterMs = next.until?.getTime() ?? Infinity;
    expect(laterMs).toBeGreaterThan(untilMs);
    untilMs = laterMs;
  }
  const closing = walk.findIndex(({ open }, index) => index > minute && !open);
  if (closing < 0) expect(untilMs).toBeGreaterThanOrEqual(endMs);
  else expect(new Date(untilMs).toISOString()).toBe(isoAt(startMs, closing));
}

function expectOpening(
  { opensAt }: WindowVerdict & { kind: "closed" },
  walk: readonly Minute[],
  { startMs, minute }: Place,
): void {
  const opening = walk.findIndex(({ open }, index) => index > minute && open);
  const endMs = startMs + WALK_MINUTES * MINUTE_MS;
  if (opening < 0) expect(opensAt?.getTime() ?? Infinity).toBeGreaterThanOrEqual(endMs);
  else if (opensAt === null) expect(opening - minute).toBeGreaterThanOrEqual(IN_SIGHT_MINUTES);
  else expect(opensAt.toISOString()).toBe(isoAt(startMs, opening));
}

function walkOf(drawn: readonly Drawn[], readings: readonly number[], startMs: number): readonly Minute[] {
  const covers = drawn.map(({ window, fields }) => ({
    kind: window.kind,
    covered: coverOf(window, fields === null ? [] : openingMinutes(fields, readings), startMs),
  }));
  const hasMaintenance = covers.some(({ kind }) => kind === "maintenance");
  return readings.map((_, minute) => {
    const isIn = (wanted: Window["kind"]): boolean =>
      covers.some(({ kind, covered }) => kind === wanted && covered[minute] === 1);
    const frozen = isIn("freeze");
    return { frozen, open: !frozen && (!hasMaintenance || isIn("maintenance")) };
  });
}

function coverOf(window: Window, openings: readonly number[], startMs: number): Uint8Array {
  const covered = new Uint8Array(WALK_MINUTES);
  if ("from" in window) {
    const minuteOf = (iso: string): number => (Date.parse(iso) - startMs) / MINUTE_MS;
    return covered.fill(1, minuteOf(window.from), minuteOf(window.until));
  }
  for (const minute of openings) covered.fill(1, minute, minute + window.lastsMs / MINUTE_MS);
  return covered;
}

/** Named hours: the minutes in which the clock comes to a named time, or beyond it, for the first time. */
function openingMinutes(fields: Fields, readings: readonly number[]): readonly number[] {
  const openings: number[] = [];
  let furthest = (readings[0] ?? 0) - 1;
  for (const [minute, reading] of readings.entries()) {
    let opens = fields.everyHour && isNamed(fields, reading);
    while (furthest < reading) {
      furthest++;
      opens ||= !fields.everyHour && isNamed(fields, furthest);
    }
    if (opens) openings.push(minute);
  }
  return openings;
}

function isNamed({ minutes, hours, weekdays }: Fields, reading: number): boolean {
  const day = Math.floor(reading / DAY_MINUTES);
  // The first day that is counted, 1970-01-01, was a Thursday.
  return minutes.has(reading % 60) && hours.has(Math.floor(reading / 60) % 24) && weekdays.has((day + 4) % 7);
}

const walked = new Map<string, readonly number[]>();

/** What the clock shows in each minute, counted in minutes. */
function readingsOf(timeZone: string, startMs: number): readonly number[] {
  const key = `${timeZone} ${startMs}`;
  const known = walked.get(key);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  const readings = upTo(WALK_MINUTES).map((minute) => {
    const shown = format.format(startMs + minute * MINUTE_MS);
    return Date.parse(`${shown.replace(" ", "T")}Z`) / MINUTE_MS;
  });
  walked.set(key, readings);
  return readings;
}

function isoAt(startMs: number, minute: number): string {
  return new Date(startMs + minute * MINUTE_MS).toISOString();
}

function upTo(end: number): readonly number[] {
  return Array.from({ length: end }, (_, value) => value);
}
