/**
 * How much longer everything takes because of what else the machine does. Bounds of time are those of a machine with a
 * core for each that wants one; what must never happen has no such bound.
 */

import { availableParallelism, loadavg } from "node:os";

export function slowness(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(1, lastMinute / availableParallelism());
}
