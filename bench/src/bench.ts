/** What every scenario is given, and how rounds of several contestants are taken in turn. */

import { CONTESTANTS, type ContestantKey } from "./contestants/index.ts";
import type { Database } from "./database.ts";
import type { Figure } from "./figure.ts";
import type { Server } from "./server.ts";

export interface Bench {
  readonly server: Server;
  /** How often each contestant is measured in one scenario. */
  readonly rounds: number;
  readonly full: boolean;
  readonly note: (text: string) => void;
}

export type Scenario = (bench: Bench) => Promise<readonly Figure[]>;

/** What a round says about itself: faults make it void, and every figure that it is part of. */
export interface Round {
  readonly faults: readonly string[];
}

/** One that is measured in turn with others: a contestant, in one of several ways where it takes part more than once. */
export interface Entry {
  readonly title: string;
  readonly contestant: ContestantKey;
}

/** One round of each in turn, then the next one of each: what slows the machine for a while slows all of them. */
export async function inTurn<Each extends Entry, Result extends Round>(
  { server, rounds, note }: Bench,
  entries: readonly Each[],
  measure: (entry: Each, database: Database) => Promise<Result>,
): Promise<(entry: Each) => readonly Result[]> {
  const results = new Map<Each, Result[]>(entries.map((entry) => [entry, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const entry of rotated(entries, round - 1)) {
      const database = await server.createDatabase();
      try {
        await CONTESTANTS[entry.contestant].install(database.url);
        note(`  round ${round} of ${rounds}: ${entry.title}`);
        const result = await measure(entry, database);
        const faults = result.faults.map((fault) => `${entry.title}, round ${round}: ${fault}`);
        for (const fault of faults) note(`  void: ${fault}`);
        results.get(entry)?.push({ ...result, faults });
      } finally {
        await database.drop();
      }
    }
  }
  return (entry) => results.get(entry) ?? [];
}

export function entryOf<Key extends ContestantKey>(contestant: Key): Entry & { readonly contestant: Key } {
  return { title: CONTESTANTS[contestant].name, contestant };
}

/** Of its own rounds and of those that it is compared with, each once. */
export function faultsOf(...rounds: readonly (readonly Round[])[]): readonly string[] {
  return [...new Set(rounds.flat().flatMap(({ faults }) => faults))];
}

/** Nobody is always the first or always comes after the same one. */
function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
