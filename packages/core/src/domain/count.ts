/** How many there are, counted up to a bound: with `atLeast` it stopped there, and there may be more. */
export interface Count {
  readonly count: number;
  readonly atLeast: boolean;
}

/** `found` is what was counted up to one more than `bound`. */
export function countUpTo(bound: number, found: number): Count {
  return { count: Math.min(found, bound), atLeast: found > bound };
}
