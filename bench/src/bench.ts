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
  /** Where each round takes place: a database that is new, unless a scenario says otherwise. */
  readonly inDatabase: InDatabase;
}

export type InDatabase = <Result>(
  contestant: ContestantKey,
  use: (database: Database) => Promise<Result>,
) => Promise<Result>;

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
  bench: Bench,
  entries: readonly Each[],
  measure: (entry: Each, database: Database) => Promise<Result>,
): Promise<(entry: Each) => readonly Result[]> {
  const results = new Results<Each, Result>(bench);
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const entry of rotated(entries, round - 1)) {
      await bench.inDatabase(entry.contestant, async (database) => {
        bench.note(`  round ${round} of ${bench.rounds}: ${entry.title}`);
        results.add(entry, round, await measure(entry, database));
      });
    }
  }
  return results.of;
}

/** All of them at the same time in each round: for what takes so short that the machine changes between two rounds of one. */
export async function sideBySide<Each extends Entry, Result extends Round>(
  bench: Bench,
  entries: readonly Each[],
  measure: (places: readonly Place<Each>[]) => Promise<readonly Result[]>,
): Promise<(entry: Each) => readonly Result[]> {
  const results = new Results<Each, Result>(bench);
  for (let round = 1; round <= bench.rounds; round += 1) {
    const turn = rotated(entries, round - 1);
    await inDatabases(bench, turn, async (places) => {
      bench.note(`  round ${round} of ${bench.rounds}: ${turn.map(({ title }) => title).join("; ")}`);
      for (const [index, result] of (await measure(places)).entries()) {
        const place = places[index];
        if (place !== undefined) results.add(place.entry, round, result);
      }
    });
  }
  return results.of;
}

export interface Place<Each extends Entry> {
  readonly entry: Each;
  readonly database: Database;
}

/** A database of its own for each of them. */
async function inDatabases<Each extends Entry>(
  bench: Bench,
  [entry, ...others]: readonly Each[],
  use: (places: readonly Place<Each>[]) => Promise<void>,
): Promise<void> {
  if (entry === undefined) return await use([]);
  await bench.inDatabase(entry.contestant, async (database) => {
    await inDatabases(bench, others, async (places) => await use([{ entry, database }, ...places]));
  });
}

export function newDatabases(server: Server): InDatabase {
  return async (contestant, use) => {
    const database = await server.createDatabase();
    try {
      await CONTESTANTS[contestant].install(database.url);
      return await use(database);
    } finally {
      await database.drop();
    }
  };
}

class Results<Each extends Entry, Result extends Round> {
  readonly #results = new Map<Each, Result[]>();
  readonly #note: Bench["note"];

  constructor({ note }: Bench) {
    this.#note = note;
  }

  add(entry: Each, round: number, result: Result): void {
    const faults = result.faults.map((fault) => `${entry.title}, round ${round}: ${fault}`);
    for (const fault of faults) this.#note(`  void: ${fault}`);
    this.#results.set(entry, [...this.of(entry), { ...result, faults }]);
  }

  readonly of = (entry: Each): readonly Result[] => this.#results.get(entry) ?? [];
}

export function entryOf<Key extends ContestantKey>(contestant: Key): Entry & { readonly contestant: Key } {
  return { title: CONTESTANTS[contestant].name, contestant };
}

/** Of its own rounds and of those that it is compared with, each once. */
export function faultsOf(...rounds: readonly (readonly Round[])[]): readonly string[] {
  return [...new Set(rounds.flat().flatMap(({ faults }) => faults))];
}

/** Nobody is always the first. */
function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
