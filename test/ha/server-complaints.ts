/** What a server said about statements that took long or were ended: the only witness of what a pass waited for. Pure. */

const SHOWN = 12;
const SHOWN_CHARACTERS = 500;
/** A new entry; what does not begin like this belongs to the entry before it. */
const ENTRY = /^\d{4}-\d{2}-\d{2} [\d:.]+ /;
const COMPLAINT = /canceling statement|still waiting|deadlock|idle-in-transaction timeout|LOG: {2}duration:/;
/** Said of the entry before it. */
const MORE_OF_IT = /^\S+ \S+ .*(?:DETAIL|CONTEXT|STATEMENT|HINT): {2}/;

export function complaintsIn(log: string): readonly string[] {
  const entries: string[] = [];
  for (const line of log.split("\n")) {
    const begins = ENTRY.test(line) && !MORE_OF_IT.test(line);
    if (begins || entries.length === 0) entries.push(line);
    else entries.push(`${entries.pop()} ${line.trim()}`);
  }
  return entries
    .filter((entry) => COMPLAINT.test(entry))
    .slice(-SHOWN)
    .map((entry) => entry.replaceAll(/\s+/g, " ").slice(0, SHOWN_CHARACTERS));
}
