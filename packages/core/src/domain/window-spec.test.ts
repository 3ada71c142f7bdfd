import { describe, expect, it } from "vitest";
import { judgeWindows } from "./window.ts";
import { parseWindow, type WindowSpec } from "./window-spec.ts";

const DAY_MS = 86_400_000;
const recurring = { kind: "maintenance", opens: "0 2 * * *", lastsMs: 3_600_000, timeZone: "Europe/Berlin" };
const once = { kind: "freeze", from: new Date("2026-12-20"), until: new Date("2027-01-04") };

describe("a window that is accepted", () => {
  it("is plain JSON when it comes back every night", () => {
    expect(parse(recurring)).toEqual(recurring);
  });

  it("has its instants as text when it is there once", () => {
    expect(parse(once)).toEqual({
      kind: "freeze",
      from: "2026-12-20T00:00:00.000Z",
      until: "2027-01-04T00:00:00.000Z",
    });
  });

  it.each([recurring, once])("is judged alike after a stay in the database", (given) => {
    const window = parse(given);
    const now = new Date("2026-12-21T12:00:00.000Z");

    const stored: typeof window = JSON.parse(JSON.stringify(window));

    expect(stored).toEqual(window);
    expect(judgeWindows([stored], now)).toEqual(judgeWindows([window], now));
  });

  it.each([
    [" 0  2 * * * ", "0 2 * * *"],
    ["0\t2 * * *", "0 2 * * *"],
    ["30 0 2 * * *", "30 0 2 * * *"],
    ["*/15 8-18 1,15 JAN-MAR MON-FRI", "*/15 8-18 1,15 JAN-MAR MON-FRI"],
    ["0 0 29 2 *", "0 0 29 2 *"],
    ["0 0 L * *", "0 0 L * *"],
    ["0 0 * * SAT#1", "0 0 * * SAT#1"],
  ])("may open at %j", (opens, stored) => {
    expect(parse({ ...recurring, opens })).toMatchObject({ opens: stored });
  });

  it.each([60_000, 366 * DAY_MS])("may last %d ms, also beyond its next opening", (lastsMs) => {
    expect(parse({ ...recurring, lastsMs })).toMatchObject({ lastsMs });
  });

  it("may take all the time there is", () => {
    const window = { kind: "freeze", from: new Date(0), until: new Date("9999-12-31T23:59:59.999Z") };

    expect(parse(window)).toMatchObject({ until: "9999-12-31T23:59:59.999Z" });
  });
});

describe("a window that is refused", () => {
  it.each([
    [{ ...recurring, kind: "pause" }, 'window.kind: "pause" is neither "maintenance" nor "freeze"'],
    [{ ...recurring, kind: {} }, 'window.kind: a value of type object is neither "maintenance" nor "freeze"'],
    [{ ...recurring, color: "red" }, "window: has no color; there are only kind, opens, lastsMs, timeZone"],
    [{ ...recurring, timezone: "UTC" }, "window: has no timezone; did you mean timeZone?"],
    [{ ...once, foo: 1 }, "window: has no foo; there are only kind, from, until"],
    [null, "window: is not a window"],
    ["0 2 * * *", "window: is not a window"],
    [{ kind: "freeze" }, "window: needs either opens, lastsMs and timeZone, or from and until"],
    [{ ...recurring, ...once }, "window: needs either opens, lastsMs and timeZone, or from and until"],
  ])("is neither of the two kinds in one of the two forms: %j", (given, sentence) => {
    expectRefusal(given, sentence);
  });

  it.each([
    ["60 2 * * *", '"60" cannot be the minute of "60 2 * * *"'],
    ["0 24 * * *", '"24" cannot be the hour of "0 24 * * *"'],
    ["0 2 32 * *", '"32" cannot be the day of the month of "0 2 32 * *"'],
    ["0 2 * FOO *", '"FOO" cannot be the month of "0 2 * FOO *"'],
    ["0 2 * * 8", '"8" cannot be the day of the week of "0 2 * * 8"'],
    ["61 0 2 * * *", '"61" cannot be the second of "61 0 2 * * *"'],
    ["12:30 2 * * *", '"12:30" cannot be the minute of "12:30 2 * * *"'],
    ["@daily", '"@daily" has 1 fields; a cron expression has five or six'],
    ["", '"" has 0 fields; a cron expression has five or six'],
    ["0 0 2 * * * 2027", '"0 0 2 * * * 2027" has 7 fields; a cron expression has five or six'],
    ["2027-01-01T00:00:00", '"2027-01-01T00:00:00" has 1 fields; a cron expression has five or six'],
    ["0".repeat(201), "is not a cron expression of at most 200 characters"],
    [7, "is not a cron expression of at most 200 characters"],
    ["0 0 30 2 *", '"0 0 30 2 *" never happens; there is no such day'],
    ["0 * 31 4,6 *", '"0 * 31 4,6 *" never happens; there is no such day'],
  ])("opens at what is no cron expression, or never: %j", (opens, problem) => {
    expectRefusal({ ...recurring, opens }, `window.opens: ${problem}`);
  });

  it.each([59_999, 366 * DAY_MS + 1, 60_000.5, Number.NaN, -1])("lasts %d ms", (lastsMs) => {
    const range = "from 60000 (a minute) to 31622400000 (366 days)";

    expectRefusal({ ...recurring, lastsMs }, `window.lastsMs: ${lastsMs} is not a whole number ${range}`);
  });

  it.each([
    ["Mars/Olympus", '"Mars/Olympus"'],
    ["", '""'],
    ["+02:00", '"+02:00"'],
    ["X".repeat(201), JSON.stringify("X".repeat(200))],
    [undefined, "a value of type undefined"],
  ])("is in a time zone that nobody knows: %j", (timeZone, shown) => {
    const problem = `${shown} is not a time zone; use a name such as "Europe/Berlin" or "UTC"`;

    expectRefusal({ ...recurring, timeZone }, `window.timeZone: ${problem}`);
  });

  it.each([
    [{ ...once, from: new Date(-1) }, "from"],
    [{ ...once, from: new Date("nonsense") }, "from"],
    [{ ...once, from: "2026-12-20" }, "from"],
    [{ ...once, until: new Date(Date.UTC(10_000)) }, "until"],
    [{ ...once, until: undefined }, "until"],
  ])("has an instant that cannot be: %j", (given, field) => {
    expectRefusal(given, `window.${field}: is not an instant between the years 1970 and 9999`);
  });

  it.each([once.from, new Date(0)])("ends before it begins, or at once: %j", (until) => {
    expectRefusal({ ...once, until }, "window.until: is not after from");
  });

  it("is named by its place", () => {
    expect(() => parseWindow({ ...once, until: once.from } as WindowSpec, "windows[2]")).toThrow(
      "windows[2].until: is not after from",
    );
  });
});

function parse(given: unknown): ReturnType<typeof parseWindow> {
  return parseWindow(given as WindowSpec);
}

function expectRefusal(given: unknown, sentence: string): void {
  expect(() => parse(given)).toThrow(
    expect.objectContaining({ name: "SchedulerError", code: "INVALID_WINDOW", message: sentence }),
  );
}
