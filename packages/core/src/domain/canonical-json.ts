/** One text for one value, as JSON stores it: the order of an object's keys does not matter. */
export function canonicalJson(value: unknown): string {
  // Through JSON first: what counts is what a Date or a member that is undefined becomes when it is stored.
  return write(JSON.parse(JSON.stringify(value ?? null)));
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${write(inner)}`).join(",")}}`;
}
