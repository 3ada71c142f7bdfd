/** Which tasks never ran and which more than once, by how often each process saw each of them. */
export function seenFaults(
  seen: readonly Uint8Array[],
  tasks: number,
  /** Where only a part was to run, nobody can say which were lost. */
  all: boolean,
): readonly string[] {
  const counts = new Uint16Array(tasks);
  for (const ofOne of seen) {
    for (const [n, count] of ofOne.entries()) counts[n] = (counts[n] ?? 0) + count;
  }
  const lost = all ? counts.filter((count) => count === 0).length : 0;
  const twice = counts.filter((count) => count > 1).length;
  return [...(lost > 0 ? [`${lost} never ran`] : []), ...(twice > 0 ? [`${twice} ran more than once`] : [])];
}
