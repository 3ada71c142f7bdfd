/** The same trouble again and again is one piece of news: it is told now and then, with how often it was not. */

interface Told {
  readonly atMs: number;
  hidden: number;
}

const REMEMBERED_AT_MOST = 100;

/** Answers how often `key` was hidden since it was told last, or null when it is to be hidden now. */
export type RepeatFilter = (key: string, atMs: number) => number | null;

export function createRepeatFilter(tellAgainAfterMs: number): RepeatFilter {
  const told = new Map<string, Told>();
  return (key, atMs) => {
    const before = told.get(key);
    if (before !== undefined && atMs - before.atMs < tellAgainAfterMs) {
      before.hidden += 1;
      return null;
    }
    if (told.size >= REMEMBERED_AT_MOST) told.clear();
    told.set(key, { atMs, hidden: 0 });
    return before?.hidden ?? 0;
  };
}
