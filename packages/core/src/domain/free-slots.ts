/**
 * Which slots below a limit nobody has, up to as many as are wanted; 0 is no limit. Those behind the last that is taken where there
 * are enough of them, else also those between. A limit that was lowered has no more room than those above it leave.
 */
export function freeSlotsOf(limit: number, taken: readonly number[], wanted: number): readonly number[] {
  const next = (taken.at(-1) ?? -1) + 1;
  if (limit === 0 || next + wanted <= limit)
    return Array.from({ length: wanted }, (_, index) => next + index);
  const room = Math.min(wanted, limit - taken.length);
  const free: number[] = [];
  let at = 0;
  for (let slot = 0; slot < limit && free.length < room; slot += 1) {
    while (at < taken.length && (taken[at] ?? limit) < slot) at += 1;
    if (taken[at] !== slot) free.push(slot);
  }
  return free;
}
