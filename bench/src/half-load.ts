/** How long handlers have to take so that lines of tasks, one after the other in each, go at half of the highest rate. */

/** What was seen: with handlers of this length, so many a second. */
export interface Driven {
  readonly restMs: number;
  readonly perSecond: number;
}

/** Whatever a turn took beside the handler, it takes again. */
export function restForHalf(lines: number, highest: number, { restMs, perSecond }: Driven): number {
  const turnMs = (lines / perSecond) * 1_000;
  const wantedMs = (lines / (highest / 2)) * 1_000;
  return Math.max(0, wantedMs - (turnMs - restMs));
}

const FROM = 0.45;
const TO = 0.55;

/** `load` as a share of the highest rate. */
export function isHalf(load: number): boolean {
  return load >= FROM && load <= TO;
}
