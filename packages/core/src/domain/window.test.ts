import { describe, expect, it, vi } from "vitest";
import { judgeWindows, type RecurringWindow, type Window, type WindowVerdict } from "./window.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const nightly: RecurringWindow = {
  kind: "maintenance",
  opens: "0 2 * * *",
  lastsMs: 2 * HOUR_MS,
  timeZone: "UTC",
};

describe("a scope without windows", () => {
  it("is open for good", () => {
    expect(judge([], "2026-11-16T03:00:00.000Z")).toEqual(openUntil(null));
  });
});

describe("a maintenance window", () => {
  it.each([
    ["just before it opens", "2026-11-16T01:59:59.999Z", closed(nightly, "2026-11-16T02:00:00.000Z")],
    ["at the instant it opens", "2026-11-16T02:00:00.000Z", openUntil("2026-11-16T04:00:00.000Z")],
    ["just before it closes", "2026-11-16T03:59:59.999Z", openUntil("2026-11-16T04:00:00.000Z")],
    ["at the instant it closes", "2026-11-16T04:00:00.000Z", closed(nightly, "2026-11-17T02:00:00.000Z")],
  ])("lets work start only inside: %s", (_, now, verdict) => {
    expect(judge([nightly], now)).toEqual(verdict);
  });

  it("may open at a second", () => {
    const window = { ...nightly, opens: "30 0 2 * * *" };

    expect(judge([window], "2026-11-16T02:00:29.999Z")).toEqual(closed(window, "2026-11-16T02:00:30.000Z"));
    expect(judge([window], "2026-11-16T02:00:30.500Z")).toEqual(openUntil("2026-11-16T04:00:30.000Z"));
  });

  it("never opens again once its one time is over", () => {
    const once = onceFrom("maintenance", "2026-11-16T02:00:00.000Z", "2026-11-16T03:00:00.000Z");

    expect(judge([once], "2026-11-16T01:00:00.000Z")).toEqual(closed(once, "2026-11-16T02:00:00.000Z"));
    expect(judge([once], "2026-11-16T02:00:00.000Z")).toEqual(openUntil("2026-11-16T03:00:00.000Z"));
    expect(judge([once], "2026-11-16T03:00:00.000Z")).toEqual(closed(once, null));
  });

  it("is joined with others: inside one is enough", () => {
    const evening = { ...nightly, opens: "0 20 * * *" };
    const overlapping = { ...nightly, opens: "0 3 * * *" };

    expect(judge([nightly, evening, overlapping], "2026-11-16T02:30:00.000Z")).toEqual(
      openUntil("2026-11-16T05:00:00.000Z"),
    );
    expect(judge([nightly, evening, overlapping], "2026-11-16T05:00:00.000Z")).toEqual(
      closed(evening, "2026-11-16T20:00:00.000Z"),
    );
  });

  it("names the one that opens first, also beside one that is over", () => {
    const over = onceFrom("maintenance", "2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z");

    expect(judge([over, nightly], "2026-11-16T05:00:00.000Z")).toEqual(
      closed(nightly, "2026-11-17T02:00:00.000Z"),
    );
  });

  it("goes on when it opens again before it closes", () => {
    const weekdays = { ...nightly, opens: "0 0 * * 1-5", lastsMs: 24 * HOUR_MS };

    expect(judge([weekdays], "2026-11-18T12:00:00.000Z")).toEqual(openUntil("2026-11-21T00:00:00.000Z"));
  });

  it("says of one that never closes when to ask again", () => {
    const always = { ...nightly, opens: "* * * * *", lastsMs: MINUTE_MS };

    const verdict = judge([always], "2026-11-16T03:00:30.000Z");

    expect(verdict).toEqual(openUntil("2026-11-16T03:32:00.000Z"));
    expect(judge([always], "2026-11-16T03:32:00.000Z").kind).toBe("open");
  });
});

describe("a freeze window", () => {
  const weekend: Window = {
    kind: "freeze",
    opens: "0 18 * * FRI",
    lastsMs: 62 * HOUR_MS,
    timeZone: "UTC",
  };
  const yearEnd = onceFrom("freeze", "2026-12-20T00:00:00.000Z", "2027-01-04T08:00:00.000Z");

  it.each([
    ["just before", "2026-11-20T17:59:59.999Z", openUntil("2026-11-20T18:00:00.000Z")],
    ["at its first instant", "2026-11-20T18:00:00.000Z", closed(weekend, "2026-11-23T08:00:00.000Z")],
    ["at its end", "2026-11-23T08:00:00.000Z", openUntil("2026-11-27T18:00:00.000Z")],
  ])("lets no work start inside: %s", (_, now, verdict) => {
    expect(judge([weekend], now)).toEqual(verdict);
  });

  it("has an end in sight however far it is", () => {
    const long = onceFrom("freeze", "2026-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z");

    expect(judge([long], "2026-11-16T03:00:00.000Z")).toEqual(closed(long, "9999-12-31T23:59:59.999Z"));
  });

  it("is open for good after its one time", () => {
    expect(judge([yearEnd], "2027-01-04T08:00:00.000Z")).toEqual(openUntil(null));
  });

  it("is added to others: outside all of them is needed", () => {
    expect(judge([weekend, yearEnd], "2026-12-19T12:00:00.000Z")).toEqual(
      closed(weekend, "2027-01-04T08:00:00.000Z"),
    );
  });

  it("names the one that ends last", () => {
    const short = onceFrom("freeze", "2026-12-19T00:00:00.000Z", "2026-12-19T13:00:00.000Z");

    expect(judge([weekend, short], "2026-12-19T12:00:00.000Z")).toMatchObject({ because: weekend });
    expect(judge([short, weekend], "2026-12-19T12:00:00.000Z")).toMatchObject({ because: weekend });
  });

  it("goes before maintenance: both are needed, in whatever order they stand", () => {
    const nights = [yearEnd, nightly];

    for (const windows of [nights, nights.toReversed()]) {
      expect(judge(windows, "2026-12-19T03:00:00.000Z")).toEqual(openUntil("2026-12-19T04:00:00.000Z"));
      expect(judge(windows, "2026-12-24T03:00:00.000Z")).toEqual(closed(yearEnd, "2027-01-05T02:00:00.000Z"));
      expect(judge(windows, "2026-12-19T12:00:00.000Z")).toEqual(closed(nightly, "2027-01-05T02:00:00.000Z"));
    }
  });

  it("closes maintenance that it begins in", () => {
    const early = onceFrom("freeze", "2026-11-16T03:00:00.000Z", "2026-11-16T03:30:00.000Z");

    expect(judge([nightly, early], "2026-11-16T02:00:00.000Z")).toEqual(
      openUntil("2026-11-16T03:00:00.000Z"),
    );
    expect(judge([nightly, early], "2026-11-16T03:00:00.000Z")).toEqual(
      closed(early, "2026-11-16T03:30:00.000Z"),
    );
  });

  it("gives up looking for the end of one that has none", () => {
    const always: Window = { kind: "freeze", opens: "* * * * *", lastsMs: MINUTE_MS, timeZone: "UTC" };
    const overlapping: Window = {
      kind: "freeze",
      opens: "0 0 1 1 *",
      lastsMs: 366 * 24 * HOUR_MS,
      timeZone: "UTC",
    };

    expect(judge([always], "2026-11-16T03:00:00.000Z")).toEqual(closed(always, null));
    expect(judge([overlapping], "2026-11-16T03:00:00.000Z")).toEqual(closed(overlapping, null));
  });

  it("gives up when it never leaves room for the maintenance", () => {
    const freeze = { ...nightly, kind: "freeze" as const };

    expect(judge([nightly, freeze], "2026-11-16T12:00:00.000Z")).toEqual(closed(nightly, null));
  });
});

describe("the change to summer time", () => {
  // Berlin, 2026-03-29: 01:59:59 is followed by 03:00:00, at 01:00 UTC.
  it.each([
    ["30 2 * * *", "the skipped time"],
    ["0,30 2 * * *", "several skipped times"],
    ["0 3 * * *", "the time at the change"],
  ])("opens %s at the change, once: %s", (opens) => {
    const window = inBerlin({ opens });

    expect(judge([window], "2026-03-29T00:59:59.999Z")).toEqual(closed(window, "2026-03-29T01:00:00.000Z"));
    expect(judge([window], "2026-03-29T01:00:00.000Z")).toEqual(openUntil("2026-03-29T01:30:00.000Z"));
    expect(judge([window], "2026-03-29T01:30:00.000Z")).toMatchObject({
      opensAt: expect.toSatisfy((at: Date) => at >= new Date("2026-03-30T00:00:00.000Z")),
    });
  });

  it("lasts as long as ever", () => {
    const window = inBerlin({ opens: "0 1 * * *", lastsMs: 3 * HOUR_MS });

    expect(judge([window], "2026-03-29T00:00:00.000Z")).toEqual(openUntil("2026-03-29T03:00:00.000Z"));
  });

  it("opens on the next day what is skipped with the end of a day", () => {
    // Nuuk, 2026-03-28: 22:59:59 is followed by 00:00:00 of the 29th, at 01:00 UTC.
    const window = { ...nightly, opens: "30 23 * * 6", timeZone: "America/Nuuk" };

    expect(judge([window], "2026-03-29T00:00:00.000Z")).toEqual(closed(window, "2026-03-29T01:00:00.000Z"));
  });

  it("opens at the change what is skipped with a whole day", () => {
    // Apia went over the date line: 2011-12-29 was followed by the 31st, at 10:00 UTC.
    const window = { ...nightly, opens: "0 9 30 12 *", timeZone: "Pacific/Apia" };

    expect(judge([window], "2011-12-30T09:00:00.000Z")).toEqual(closed(window, "2011-12-30T10:00:00.000Z"));
  });

  it("has no opening for an hour that is not there when every hour has one", () => {
    const window = inBerlin({ opens: "15 * * * *" });

    expect(judge([window], "2026-03-29T00:50:00.000Z")).toEqual(closed(window, "2026-03-29T01:15:00.000Z"));
  });
});

describe("the change to winter time", () => {
  // Berlin, 2026-10-25: 02:59:59 is followed by 02:00:00, at 01:00 UTC.
  it.each(["30 2 * * *", "30 2,14 * * *", "30 0-2 * * *", "0 */30 2 * * *"])(
    "opens at the first of the two times, and only then: %s",
    (opens) => {
      const window = inBerlin({ opens, lastsMs: 20 * MINUTE_MS });

      expect(judge([window], "2026-10-25T00:29:59.999Z")).toEqual(closed(window, "2026-10-25T00:30:00.000Z"));
      expect(judge([window], "2026-10-25T00:30:00.000Z")).toEqual(openUntil("2026-10-25T00:50:00.000Z"));
      for (const after of ["00:50", "01:15", "01:30"]) {
        expect(judge([window], `2026-10-25T${after}:00.000Z`)).toMatchObject({
          opensAt: expect.toSatisfy((at: Date) => at >= new Date("2026-10-25T13:30:00.000Z")),
        });
      }
    },
  );

  it("opens what comes after the two hours when both are over", () => {
    const window = inBerlin({ opens: "0 3 * * *" });

    expect(judge([window], "2026-10-25T00:30:00.000Z")).toEqual(closed(window, "2026-10-25T02:00:00.000Z"));
    expect(judge([window], "2026-10-25T01:30:00.000Z")).toEqual(closed(window, "2026-10-25T02:00:00.000Z"));
  });

  it("lasts as long as ever", () => {
    const window = inBerlin({ opens: "0 1 * * *", lastsMs: 3 * HOUR_MS });

    expect(judge([window], "2026-10-24T23:00:00.000Z")).toEqual(openUntil("2026-10-25T02:00:00.000Z"));
  });

  it.each(["0 * * * *", "0 0 * * * *", "0 */1 * * *"])(
    "opens in both hours when every hour has an opening: %s",
    (opens) => {
      const window = inBerlin({ opens, lastsMs: 10 * MINUTE_MS });

      expect(judge([window], "2026-10-25T00:30:00.000Z")).toEqual(closed(window, "2026-10-25T01:00:00.000Z"));
      expect(judge([window], "2026-10-25T01:05:00.000Z")).toEqual(openUntil("2026-10-25T01:10:00.000Z"));
    },
  );

  it("leaves an hour between windows of a whole day", () => {
    const window = inBerlin({ opens: "0 0 * * *", lastsMs: 24 * HOUR_MS });

    expect(judge([window], "2026-10-25T12:00:00.000Z")).toEqual(openUntil("2026-10-25T22:00:00.000Z"));
    expect(judge([window], "2026-10-25T22:00:00.000Z")).toEqual(closed(window, "2026-10-25T23:00:00.000Z"));
  });
});

describe("the clock of this process", () => {
  it("has no say", () => {
    const windows = [nightly, inBerlin({ opens: "0 * * * *", kind: "freeze" })];
    const verdict = judge(windows, "2026-11-16T03:15:00.000Z");

    vi.useFakeTimers({ now: new Date("1999-01-01T00:00:00.000Z") });
    try {
      expect(judge(windows, "2026-11-16T03:15:00.000Z")).toEqual(verdict);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

it("judges more different expressions than it remembers", () => {
  for (let n = 0; n < 210; n++) {
    const window = { ...nightly, opens: `${n % 60} ${Math.floor(n / 60)} * * *` };

    expect(judge([window], "2026-11-16T23:00:00.000Z")).toMatchObject({ because: window });
  }
});

function judge(windows: readonly Window[], now: string): WindowVerdict {
  return judgeWindows(windows, new Date(now));
}

function openUntil(until: string | null): WindowVerdict {
  return { kind: "open", until: until === null ? null : new Date(until) };
}

function closed(because: Window, opensAt: string | null): WindowVerdict {
  return { kind: "closed", because, opensAt: opensAt === null ? null : new Date(opensAt) };
}

function onceFrom(kind: Window["kind"], from: string, until: string): Window {
  return { kind, from, until };
}

function inBerlin(window: Partial<RecurringWindow>): RecurringWindow {
  return { ...nightly, lastsMs: 30 * MINUTE_MS, timeZone: "Europe/Berlin", ...window };
}
