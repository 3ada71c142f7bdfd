/**
 * How long, and by which seed. `SIGNALBOX_LONG_SECONDS` is the time of the random mix (default 600); what else has a
 * length of its own is shortened with it. `SIGNALBOX_LONG_SEED` repeats the choices of a run.
 */

const DEFAULT_SECONDS = 600;

export const longSeconds: number = Number(process.env["SIGNALBOX_LONG_SECONDS"] ?? DEFAULT_SECONDS);
export const longSeed: number = Number(process.env["SIGNALBOX_LONG_SEED"] ?? Date.now() % 1_000_000);

/** The part of its whole length that something takes in a shorter run. */
export const longPart: number = Math.min(1, longSeconds / DEFAULT_SECONDS);

/** At least one. */
export function partOf(whole: number): number {
  return Math.max(1, Math.round(whole * longPart));
}
