/** Fewer would let fast instances run dry between two passes. */
const SMALLEST_SHARE = 20;

/** How many task runs of one run may be AVAILABLE at once: what the cluster can take up in two rounds. */
export function fairShareOf(clusterSlots: number): number {
  return Math.max(SMALLEST_SHARE, 2 * clusterSlots);
}
