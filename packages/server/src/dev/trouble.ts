/** The same trouble from many loops at once is one piece of news: it is told now and then, with a count. */

interface Told {
  readonly atMs: number;
  hidden: number;
}

const TELL_AGAIN_AFTER_MS = 5_000;
const REMEMBERED_AT_MOST = 100;

/** Answers what is to be said of `message`, or null while there is nothing new to say. */
export type TroubleFilter = (message: string, atMs: number) => string | null;

export function createTroubleFilter(): TroubleFilter {
  const told = new Map<string, Told>();
  return (message, atMs) => {
    const before = told.get(message);
    if (before !== undefined && atMs - before.atMs < TELL_AGAIN_AFTER_MS) {
      before.hidden += 1;
      return null;
    }
    if (told.size >= REMEMBERED_AT_MOST) told.clear();
    told.set(message, { atMs, hidden: 0 });
    return before === undefined || before.hidden === 0
      ? message
      : `${message}  (and ${before.hidden} times before)`;
  };
}
