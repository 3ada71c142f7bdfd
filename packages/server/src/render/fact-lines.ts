import type { Look } from "./look.ts";
import { alignColumns } from "./table.ts";

/** A name and what is said of it; null: nothing is to be said. */
export type Fact = readonly [name: string, text: string | null];

/** One thing as a list of facts, with the names below each other. */
export function factLines(facts: readonly Fact[], look: Look): readonly string[] {
  const rows = facts.flatMap(([name, text]) => (text === null ? [] : [[`  ${look.colors.dim(name)}`, text]]));
  return alignColumns(rows);
}
