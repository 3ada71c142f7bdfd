/** What every scenario is given, and how rounds of several contestants are taken in turn. */

import { CONTESTANTS, type ContestantKey } from "./contestants/index.ts";
import type { Figure } from "./figure.ts";
import type { Database, Server } from "./server.ts";

export interface Bench {
  readonly server: Server;
  /** How often each contestant is measured in one scenario. */
  readonly rounds: number;
  readonly full: boolean;
  readonly note: (text: string) => void;
}

export type Scenario = (bench: Bench) => Promise<readonly Figure[]>;

/** One round of each in turn, then the next one of each: what slows the machine for a while slows all of them. */
export async function inTurn<Key extends ContestantKey, Result>(
  { server, rounds, note }: Bench,
  contestants: readonly Key[],
  measure: (contestant: Key, database: Database) => Promise<Result>,
): Promise<ReadonlyMap<Key, readonly Result[]>> {
  const results = new Map<Key, Result[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of rotated(contestants, round)) {
      const database = await server.createDatabase();
      try {
        await CONTESTANTS[contestant].install(database.url);
        note(`  round ${round + 1} of ${rounds}: ${CONTESTANTS[contestant].name}`);
        results.get(contestant)?.push(await measure(contestant, database));
      } finally {
        await database.drop();
      }
    }
  }
  return results;
}

/** Nobody is always the first or always comes after the same one. */
function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
