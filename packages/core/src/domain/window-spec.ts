/** What makes a window valid. The caller's spec is resolved once, here; judging trusts what was stored. */

import { SchedulerError } from "./errors.ts";
import { isInstant, NO_INSTANT } from "./instant.ts";
import { isCron, openingsOf } from "./openings.ts";
import { anything, isReadable, objectOf, UNREADABLE } from "./shape.ts";
import { wallClockOf } from "./wall-clock.ts";
import type { OneTimeWindow, RecurringWindow, Window, WindowKind } from "./window.ts";

/** A window as a caller gives it: recurring, or once. */
export type WindowSpec = RecurringWindow | OneTimeWindowSpec;

export interface OneTimeWindowSpec {
  readonly kind: WindowKind;
  readonly from: Date;
  readonly until: Date;
}

const MIN_LASTS_MS = 60_000;
/** 366 days. */
const MAX_LASTS_MS = 31_622_400_000;
const MAX_CHARACTERS = 200;
// The calendar repeats after 400 years: what has no match from here on never has one.
const CALENDAR_START_MS = Date.UTC(2000);
const FIELDS = ["second", "minute", "hour", "day of the month", "month", "day of the week"];

/** `at` says where the window stands, for the error message: "windows[1]". */
export function parseWindow(given: WindowSpec, at = "window"): Window {
  const refuse: Refuse = (field, problem) => {
    throw new SchedulerError("INVALID_WINDOW", { at: field === "" ? at : `${at}.${field}`, problem });
  };
  const problem = problemWithWhole(given);
  if (problem !== null) return refuse("", problem);
  const { kind } = given;
  if (kind !== "maintenance" && kind !== "freeze") {
    return refuse("kind", `${quote(kind)} is neither "maintenance" nor "freeze"`);
  }
  const isRecurring = "opens" in given;
  const isOneTime = "from" in given;
  if (isRecurring === isOneTime) {
    return refuse("", "needs either opens, lastsMs and timeZone, or from and until");
  }
  const misfit = (isRecurring ? RECURRING : ONE_TIME)(given);
  if (misfit !== null) return refuse("", misfit.problem);
  return isRecurring ? parseRecurring(given, refuse) : parseOneTime(given, refuse);
}

function problemWithWhole(given: unknown): string | null {
  if (!isReadable(given)) return UNREADABLE.problem;
  return typeof given !== "object" || given === null ? "is not a window" : null;
}

/** Only that nothing else is said: what each member must be like is said where it is parsed. */
const RECURRING = objectOf<RecurringWindow>({
  kind: anything,
  opens: anything,
  lastsMs: anything,
  timeZone: anything,
});
const ONE_TIME = objectOf<OneTimeWindowSpec>({ kind: anything, from: anything, until: anything });

/** A stored window in the form in which a caller gives it. */
export function asGiven(window: Window): WindowSpec {
  if (!("from" in window)) return window;
  return { kind: window.kind, from: new Date(window.from), until: new Date(window.until) };
}

type Refuse = (field: string, problem: string) => never;

function parseRecurring(given: RecurringWindow, refuse: Refuse): RecurringWindow {
  const { kind, lastsMs } = given;
  const timeZone = parseTimeZone(given.timeZone, refuse);
  const opens = parseOpens(given.opens, refuse);
  if (openingsOf(opens, timeZone).nextAfter(CALENDAR_START_MS) === null) {
    refuse("opens", `${quote(opens)} never happens; there is no such day`);
  }
  if (!Number.isInteger(lastsMs) || lastsMs < MIN_LASTS_MS || lastsMs > MAX_LASTS_MS) {
    const range = `from ${MIN_LASTS_MS} (a minute) to ${MAX_LASTS_MS} (366 days)`;
    refuse("lastsMs", `${quote(lastsMs)} is not a whole number ${range}`);
  }
  return { kind, opens, lastsMs, timeZone };
}

function parseOneTime(given: OneTimeWindowSpec, refuse: Refuse): OneTimeWindow {
  const from = parseInstant(given.from, (problem) => refuse("from", problem));
  const until = parseInstant(given.until, (problem) => refuse("until", problem));
  if (until <= from) refuse("until", "is not after from");
  return { kind: given.kind, from: from.toISOString(), until: until.toISOString() };
}

function parseInstant(given: Date, refuse: (problem: string) => never): Date {
  return isInstant(given) ? given : refuse(NO_INSTANT);
}

function parseTimeZone(given: string, refuse: Refuse): string {
  // Some versions of JavaScript also take "+02:00"; an instance with another version could not judge the window.
  const isName = typeof given === "string" && given.length <= MAX_CHARACTERS && /^[A-Za-z]/.test(given);
  if (!isName || !isKnown(given)) {
    return refuse(
      "timeZone",
      `${quote(given)} is not a time zone; use a name such as "Europe/Berlin" or "UTC"`,
    );
  }
  return given;
}

function isKnown(timeZone: string): boolean {
  try {
    wallClockOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** One space between the fields, however they were given. */
function parseOpens(given: string, refuse: Refuse): string {
  if (typeof given !== "string" || given.length > MAX_CHARACTERS) {
    return refuse("opens", `is not a cron expression of at most ${MAX_CHARACTERS} characters`);
  }
  const fields = given.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== 5 && fields.length !== 6) {
    return refuse("opens", `${quote(given)} has ${fields.length} fields; a cron expression has five or six`);
  }
  const names = FIELDS.slice(-fields.length);
  const wrong = fields.findIndex((_, index) => {
    const alone = fields.map((field, other) => (other === index ? field : "*"));
    return !isCron(alone.join(" "));
  });
  if (wrong >= 0) {
    refuse("opens", `${quote(fields[wrong])} cannot be the ${names[wrong]} of ${quote(given)}`);
  }
  return fields.join(" ");
}

/** Escaped, because it may come from anywhere and goes into logs. */
function quote(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.slice(0, MAX_CHARACTERS));
  return typeof given === "number" ? String(given) : `a value of type ${typeof given}`;
}
