/**
 * Milliseconds on a clock that never jumps and is the same in every thread and process of the machine, so that times of
 * one can be compared by another (the zero of `performance.now()` is each thread's own start).
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
