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
  /** What one task costs over its life, where it was measured. */
  readonly costs?: LifeCosts;
  /** Why it does not count: what went wrong in its own rounds, and in those of whom it is compared with. */
  readonly faults: readonly string[];
}

/** About the ratio where there is one, otherwise about the value. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number };

export interface LifeCosts {
  readonly enqueue: CostsPerTask;
  /** From its claim until its end is recorded. */
  readonly work: CostsPerTask;
}

export interface CostsPerTask {
  readonly serverCpuUs: number;
  readonly nodeCpuUs: number;
  readonly walBytes: number;
  readonly statements: number;
}

export type Verdict = "met" | "missed" | "void";

/** Null: nothing is asked of it, and nothing went wrong. */
export function verdictOf({ value, ratio, bar, faults }: Figure): Verdict | null {
  if (faults.length > 0) return "void";
  if (bar === null) return null;
  return meets(bar, ratio?.value ?? value) ? "met" : "missed";
}

/** What could not be measured (NaN) meets no bar. */
function meets(bar: Bar, measured: number): boolean {
  if ("atLeast" in bar) return measured >= bar.atLeast;
  return "atMost" in bar ? measured <= bar.atMost : measured < bar.below;
}

export function barText(bar: Bar | null): string {
  if (bar === null) return "";
  if ("atLeast" in bar) return `≥ ${bar.atLeast}`;
  return "atMost" in bar ? `≤ ${bar.atMost}` : `< ${bar.below}`;
}
