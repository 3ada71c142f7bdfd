/** The rates of all who took part, beside that of one of them. */

import { type Entry, faultsOf, type Round } from "./bench.ts";
import type { ContestantKey } from "./contestants/index.ts";
import type { Figure } from "./figure.ts";
import { median } from "./statistics.ts";

interface RateRound extends Round {
  readonly perSecond: number;
}

interface Comparison<Each extends Entry> {
  readonly scenario: string;
  readonly roundsOf: (entry: Each) => readonly RateRound[];
  /** Whom all are compared with. */
  readonly rival: ContestantKey;
  /** Asked of Signalbox. Null: nothing is. */
  readonly atLeast: number | null;
}

export function rateFigures<Each extends Entry>(
  entries: readonly Each[],
  { scenario, roundsOf, rival, atLeast }: Comparison<Each>,
): readonly Figure[] {
  const other = entries.find(({ contestant }) => contestant === rival);
  if (other === undefined) throw new Error(`${rival} takes no part in ${scenario}`);
  const rate = (entry: Each): number => median(roundsOf(entry).map(({ perSecond }) => perSecond));
  return entries.map((entry) => ({
    scenario,
    contestant: entry.title,
    unit: "/s",
    value: rate(entry),
    ratio: { to: other.title, value: rate(entry) / rate(other) },
    bar: entry.contestant === "signalbox" && atLeast !== null ? { atLeast } : null,
    notes: [],
    faults: faultsOf(roundsOf(entry), roundsOf(other)),
  }));
}
