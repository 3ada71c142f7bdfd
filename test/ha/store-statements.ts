/**
 * The statements of the store as they are written in its sources: by their names they are found on the wire, and what
 * writes is known from them.
 */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface StoreStatement {
  readonly name: string;
  /** As it goes over the wire, with `$1` for its first value. */
  readonly text: string;
  readonly writes: boolean;
}

const FOLDER = fileURLToPath(new URL("../../packages/core/src/store/", import.meta.url));
const STATEMENT = /(?:sql|preparedSql)(?:<[^`]*?>)?\(\s*"(\w+)",?\s*\)`([^`]*)`/g;
const WRITES = /\b(?:INSERT INTO|UPDATE signalbox|DELETE FROM|setval)\b/;

export function readStatements(): readonly StoreStatement[] {
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .toSorted()
    .flatMap((file) => [...readFileSync(`${FOLDER}${file}`, "utf8").matchAll(STATEMENT)])
    .map(([, name = "", text = ""]) => ({ name, text: toWire(text), writes: WRITES.test(text) }));
}

const VALUE = /\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g;

function toWire(text: string): string {
  let values = 0;
  return text.replaceAll(VALUE, () => {
    values += 1;
    return `$${values}`;
  });
}
