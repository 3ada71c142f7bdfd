/** The same trouble from many loops at once is one piece of news: it is told now and then, with a count. */

import { createRepeatFilter } from "../telemetry/repeat-filter.ts";

const TELL_AGAIN_AFTER_MS = 5_000;

/** Answers what is to be said of `message`, or null while there is nothing new to say. */
export type TroubleFilter = (message: string, atMs: number) => string | null;

export function createTroubleFilter(): TroubleFilter {
  const filter = createRepeatFilter(TELL_AGAIN_AFTER_MS);
  return (message, atMs) => {
    const hidden = filter(message, atMs);
    if (hidden === null) return null;
    return hidden === 0 ? message : `${message}  (and ${hidden} times before)`;
  };
}
