/** Windows and pauses of a queue or a resource. */

import type { Pause, QueueView, WindowSpec } from "@signalbox/contract";
import { pausedText } from "./run-lines.ts";
import { clockText, lengthText, relativeText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";

/** "maintenance: opens 0 2 * * 1-5 (Europe/Berlin) for 3 h" */
export function windowText(window: WindowSpec, { now, look }: Moment): string {
  if ("opens" in window) {
    return `${window.kind}: opens ${window.opens} (${window.timeZone}) for ${lengthText(window.lastsMs)}`;
  }
  const [from, until] = [window.from, window.until].map((at) => clockText(at, now, look));
  return `${window.kind}: ${from} until ${until}`;
}

export type WindowNow = QueueView["now"];

/** "open until 18:00:00", "frozen until …" */
export function windowNowText(given: WindowNow, { now, look }: Moment): string {
  if (given.kind === "open") {
    return given.until === null ? "open" : `open until ${clockText(given.until, now, look)}`;
  }
  const state = given.because === "freeze" ? "frozen" : "closed";
  if (given.opensAt === null) return state;
  return `${state} until ${clockText(given.opensAt, now, look)} (${relativeText(given.opensAt, now)})`;
}

/** What keeps work from starting there now; nothing: it may. */
export function standingText(
  {
    paused,
    windows,
    now: state,
  }: { readonly paused: Pause | null; readonly windows: readonly WindowSpec[]; readonly now: WindowNow },
  moment: Moment,
): string {
  const parts = [
    ...(paused === null ? [] : [pausedText(paused, moment.now)]),
    ...(windows.length === 0 ? [] : [windowNowText(state, moment)]),
  ];
  return parts.join(", ");
}
