/** Paths that a trial is there to take. Not taken: it has proved nothing about them, and must not pass. */

export type Sometimes = Readonly<Record<string, number>>;

export function missedIn(counters: Sometimes): readonly string[] {
  return Object.keys(counters).filter((path) => counters[path] === 0);
}

export function requireTaken(counters: Sometimes): void {
  const missed = missedIn(counters);
  if (missed.length === 0) return;
  throw new Error(
    `Inconclusive: ${missed.join(", ")} never happened, so nothing was shown about it (seen: ${show(counters)})`,
  );
}

export function show(counters: Sometimes): string {
  return Object.entries(counters)
    .map(([path, count]) => `${path} ${count}`)
    .join(", ");
}
