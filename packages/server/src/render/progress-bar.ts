/** How much of a whole is done, in so many characters. */
export function progressBar(
  part: number,
  whole: number,
  options: { readonly width: number; readonly unicode: boolean },
): string {
  const { width, unicode } = options;
  const [full, rest] = unicode ? ["█", "░"] : ["#", "."];
  const share = whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
  // Full only when all is done.
  const filled = share === 1 ? width : Math.min(width - 1, Math.round(share * width));
  return full.repeat(Math.max(0, filled)) + rest.repeat(width - Math.max(0, filled));
}
