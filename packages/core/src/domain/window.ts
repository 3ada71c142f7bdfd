/**
 * Maintenance windows (work may start only inside) and freeze windows (work may not start inside): is it open
 * now, and when does that change?
 *
 * Pure, and nothing here knows what a window is put on. A window is open from its first instant and closed
 * again at its last; how long it lasts is elapsed time, whatever the clocks do meanwhile.
 */

import { openingsOf } from "./openings.ts";

/** As it is stored: plain JSON. `parseWindow` makes one of what a caller gives. */
export type Window = RecurringWindow | OneTimeWindow;

export type WindowKind = "maintenance" | "freeze";

export interface RecurringWindow {
  readonly kind: WindowKind;
  /** Cron, five or six fields, read in `timeZone`. */
  readonly opens: string;
  readonly lastsMs: number;
  readonly timeZone: string;
}

export interface OneTimeWindow {
  readonly kind: WindowKind;
  /** ISO 8601, as is `until`. */
  readonly from: string;
  readonly until: string;
}

export type WindowVerdict =
  /** `until`: no earlier than this it may close, so ask again then; `null`: never. */
  | { readonly kind: "open"; readonly until: Date | null }
  /** `because`: what keeps it closed now; of several freezes the one that ends last. `opensAt`: `null` when not in sight. */
  | { readonly kind: "closed"; readonly because: Window; readonly opensAt: Date | null };

// Windows that follow one another without a gap, as "* * * * *" for a minute does, must not hold up a pass.
const EDGES_UNTIL_OPEN = 400;
const EDGES_UNTIL_CLOSED = 32;

/** Outside every freeze, and inside one of the maintenance windows if there are any. */
export function judgeWindows(windows: readonly Window[], now: Date): WindowVerdict {
  const scope = {
    freezes: windows.filter(({ kind }) => kind === "freeze").map(spansOf),
    maintenance: windows.filter(({ kind }) => kind === "maintenance").map(spansOf),
  };
  const closed = closedAt(scope, now.getTime());
  return closed === null
    ? { kind: "open", until: asDate(firstClosing(scope, now.getTime())) }
    : {
        kind: "closed",
        because: closed.because,
        opensAt: asDate(firstOpening(scope, closed, now.getTime())),
      };
}

interface Spans {
  readonly window: Window;
  /** The end of the span that covers this instant; `null` outside. */
  readonly endOfCover: (atMs: number) => number | null;
  readonly nextStart: (atMs: number) => number | null;
}

interface Scope {
  readonly freezes: readonly Spans[];
  readonly maintenance: readonly Spans[];
}

interface Closed {
  readonly because: Window;
  /** It is closed at least until then; `null`: for good. */
  readonly untilMs: number | null;
}

function spansOf(window: Window): Spans {
  if ("from" in window) {
    const fromMs = Date.parse(window.from);
    const untilMs = Date.parse(window.until);
    return {
      window,
      endOfCover: (atMs) => (fromMs <= atMs && atMs < untilMs ? untilMs : null),
      nextStart: (atMs) => (atMs < fromMs ? fromMs : null),
    };
  }
  const openings = openingsOf(window.opens, window.timeZone);
  return {
    window,
    endOfCover: (atMs) => {
      // All its spans last alike, so none that began earlier ends later.
      const opened = openings.latestBy(atMs);
      return opened !== null && atMs < opened + window.lastsMs ? opened + window.lastsMs : null;
    },
    nextStart: openings.nextAfter,
  };
}

function closedAt({ freezes, maintenance }: Scope, atMs: number): Closed | null {
  return frozenAt(freezes, atMs) ?? outsideAt(maintenance, atMs);
}

function frozenAt(freezes: readonly Spans[], atMs: number): Closed | null {
  let frozen: { because: Window; untilMs: number } | null = null;
  for (const { window, endOfCover } of freezes) {
    const untilMs = endOfCover(atMs);
    if (untilMs === null) continue;
    if (frozen === null || untilMs > frozen.untilMs) frozen = { because: window, untilMs };
  }
  return frozen;
}

function outsideAt(maintenance: readonly Spans[], atMs: number): Closed | null {
  let closed: Closed | null = null;
  for (const { window, endOfCover, nextStart } of maintenance) {
    if (endOfCover(atMs) !== null) return null;
    const untilMs = nextStart(atMs);
    const isSooner = (untilMs ?? Infinity) < (closed?.untilMs ?? Infinity);
    if (closed === null || isSooner) closed = { because: window, untilMs };
  }
  return closed;
}

function firstOpening(scope: Scope, closedNow: Closed, nowMs: number): number | null {
  let closed: Closed | null = closedNow;
  let atMs = nowMs;
  for (let edge = 0; edge < EDGES_UNTIL_OPEN; edge++) {
    if (closed === null) return atMs;
    if (closed.untilMs === null) return null;
    atMs = closed.untilMs;
    closed = closedAt(scope, atMs);
  }
  return null;
}

/** Called while it is open, so no freeze covers `nowMs` and the next one to start is the first that closes. */
function firstClosing({ freezes, maintenance }: Scope, nowMs: number): number | null {
  const freezesAt = Math.min(...freezes.map(({ nextStart }) => nextStart(nowMs) ?? Infinity));
  let endMs = maintenance.length === 0 ? Infinity : nowMs;
  for (let edge = 0; edge < EDGES_UNTIL_CLOSED && endMs < freezesAt; edge++) {
    const ends = maintenance.map(({ endOfCover }) => endOfCover(endMs) ?? endMs);
    const furthest = Math.max(...ends);
    if (furthest === endMs) break;
    endMs = furthest;
  }
  const closesAt = Math.min(endMs, freezesAt);
  return closesAt === Infinity ? null : closesAt;
}

function asDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
