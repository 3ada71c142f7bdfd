/** Instants as callers give them, and which of them can be stored. */

/** What is said of one that cannot. */
export const NO_INSTANT = "is not an instant between the years 1970 and 9999";

/** Also one that was made in another realm, as test runners do; not what only looks like one. */
export function isDate(value: unknown): value is Date {
  // Nearly nothing is one, and to throw takes its time: this is asked of every task.
  if (Object.prototype.toString.call(value) !== "[object Date]") return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}

export function isInstant(value: unknown): value is Date {
  if (!isDate(value)) return false;
  const ms = value.getTime();
  // An invalid Date is neither.
  return ms >= 0 && ms < Date.UTC(10_000);
}
