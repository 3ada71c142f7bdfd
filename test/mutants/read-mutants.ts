/**
 * Mutants: one clause less, and the test that must notice. One file each, so that a reader sees both at once:
 *
 *     # 1: settle: claim number
 *     What goes wrong without it.
 *
 *     in packages/core/src/store/task-runs/settle.ts
 *     - text that is there exactly once
 *     + what stands there instead
 *
 *     killed by packages/core/src/engine/settler.db.test.ts
 *     > title of a test, as its source has it
 *     says part of its failure, where that is not an assertion
 *
 * "# extra: …" has no number in the list of fences. Several changes and several tests may follow each other.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Killer {
  readonly file: string;
  readonly title: string;
  /** What the failure must say; null: it must be an assertion. */
  readonly says: string | null;
}

export interface Mutant {
  /** Its file without the ending. */
  readonly id: string;
  /** The number of the fence that it takes away; null: a clause that is not in the list. */
  readonly fence: number | null;
  readonly name: string;
  readonly changes: readonly Change[];
  readonly killers: readonly Killer[];
}

const FOLDER = new URL("./", import.meta.url);

export function readMutants(): readonly Mutant[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".mutant"))
    .sort()
    .map((name) =>
      parseMutant(name.replace(/\.mutant$/, ""), readFileSync(fileURLToPath(new URL(name, FOLDER)), "utf8")),
    );
}

export function parseMutant(id: string, text: string): Mutant {
  const [first = "", ...lines] = text.split("\n");
  const [, number, name] = /^# (\d+|extra): (.+)$/.exec(first) ?? [];
  if (number === undefined || name === undefined)
    throw new Error(`${id}: the first line is "# <number>: <name>"`);
  const changes = sectionsOf(lines, "in ").map(({ file, body }) => ({
    file,
    find: linesWith(body, "-"),
    replace: linesWith(body, "+"),
  }));
  const killers = sectionsOf(lines, "killed by ").flatMap(({ file, body }) => killersIn(file, body));
  if (changes.length === 0 || changes.some(({ find }) => find === ""))
    throw new Error(`${id} changes nothing`);
  if (killers.length === 0) throw new Error(`${id} names no test`);
  return { id, fence: number === "extra" ? null : Number(number), name, changes, killers };
}

/** A line that begins like this, and all up to the next empty one. */
function sectionsOf(
  lines: readonly string[],
  start: string,
): readonly { readonly file: string; readonly body: readonly string[] }[] {
  return lines.flatMap((line, index) => {
    if (!line.startsWith(start)) return [];
    const rest = lines.slice(index + 1);
    const end = rest.indexOf("");
    return [{ file: line.slice(start.length), body: end < 0 ? rest : rest.slice(0, end) }];
  });
}

function linesWith(body: readonly string[], sign: string): string {
  return body
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(2))
    .join("\n");
}

function killersIn(file: string, body: readonly string[]): readonly Killer[] {
  return body.flatMap((line, index) => {
    if (!line.startsWith("> ")) return [];
    const next = body[index + 1] ?? "";
    const says = next.startsWith("says ") ? next.slice("says ".length) : null;
    return [{ file, title: line.slice(2), says }];
  });
}

/** Applies a change to the text of its file. Throws where its text is gone or stands there more than once. */
export function applyChange({ file, find, replace }: Change, text: string): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} has ${found} times, not once:\n${find}`);
  // A function, because "$1" in a replacement means something else.
  return text.replace(find, () => replace);
}

/** Of those whose text is gone or stands there more than once: which, and what it was. */
export function staleIn(mutants: readonly Mutant[]): readonly string[] {
  return mutants.flatMap(({ id, changes }) =>
    changes.flatMap((change) => {
      try {
        applyChange(change, readFileSync(fileURLToPath(new URL(`../../${change.file}`, FOLDER)), "utf8"));
        return [];
      } catch (error) {
        return [`${id}: ${error instanceof Error ? error.message : String(error)}`];
      }
    }),
  );
}
