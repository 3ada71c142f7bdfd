/** One line of the result: what was measured, of whom, and whether it is what we ask of ourselves. */

export interface Figure {
  readonly scenario: string;
  readonly contestant: string;
  readonly unit: string;
  /** Medians of the rounds, or a percentile. */
  readonly value: number;
  /** Beside whom; null where it stands alone. */
  readonly ratio: { readonly to: string; readonly value: number } | null;
  readonly bar: Bar | null;
  readonly notes: readonly string[];
  /** Why it does not count. */
  readonly faults: readonly string[];
}

/** `atLeast` and `atMost` are about the ratio where there is one, otherwise about the value. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number };

export function meets({ value, ratio, bar }: Figure): boolean | null {
  if (bar === null) return null;
  const measured = ratio?.value ?? value;
  return "atLeast" in bar ? measured >= bar.atLeast : measured <= bar.atMost;
}
