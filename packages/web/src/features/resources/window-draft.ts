/** A window as it is typed, and what the API takes of it. Pure. */

import type { WindowSpec } from "@signalbox/contract";

export interface WindowDraft {
  readonly kind: WindowSpec["kind"];
  readonly repeated: boolean;
  readonly opens: string;
  readonly minutes: string;
  readonly timeZone: string;
  /** As a field for date and time has them, in the time of this browser. */
  readonly from: string;
  readonly until: string;
}

const MINUTE_MS = 60_000;

/** Of a window that is there, or one to begin with. */
export function draftOf(window: WindowSpec | null, timeZone: string): WindowDraft {
  const empty: WindowDraft = {
    kind: window?.kind ?? "maintenance",
    repeated: window === null || "opens" in window,
    opens: "0 2 * * *",
    minutes: "60",
    timeZone,
    from: "",
    until: "",
  };
  if (window === null) return empty;
  return "opens" in window
    ? {
        ...empty,
        opens: window.opens,
        minutes: String(window.lastsMs / MINUTE_MS),
        timeZone: window.timeZone,
      }
    : { ...empty, from: localText(window.from), until: localText(window.until) };
}

/** What cannot be a window is sent all the same: the server says in one sentence what is wrong with it. */
export function windowOf({ kind, repeated, ...draft }: WindowDraft): WindowSpec {
  if (!repeated) return { kind, from: instantText(draft.from), until: instantText(draft.until) };
  const { opens, timeZone } = draft;
  return { kind, opens: opens.trim(), lastsMs: Math.round(Number(draft.minutes) * MINUTE_MS), timeZone };
}

/** The others as they are now; one that somebody else has taken away meanwhile comes back changed. */
export function withWindow(
  windows: readonly WindowSpec[],
  before: WindowSpec | null,
  after: WindowSpec | null,
): readonly WindowSpec[] {
  const place = before === null ? -1 : windows.findIndex((each) => sameWindow(each, before));
  const kept = windows.filter((_, index) => index !== place);
  if (after === null) return kept;
  return place < 0 ? [...kept, after] : kept.toSpliced(place, 0, after);
}

function sameWindow(one: WindowSpec, other: WindowSpec): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function localText(at: string): string {
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 16);
}

function instantText(local: string): string {
  const at = Date.parse(local);
  return Number.isNaN(at) ? local : new Date(at).toISOString();
}
