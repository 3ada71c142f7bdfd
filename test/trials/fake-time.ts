/** Where the system has libfaketime, which gives a process another clock. */

import { existsSync, readdirSync } from "node:fs";

const PLACES = ["/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1"];

/** Null: it is not installed, which is told. */
export function findFakeTime(): string | null {
  const library = PLACES.flatMap(globOf).at(0) ?? null;
  if (library === null) {
    process.stdout.write(
      "Skipped: a wrong clock needs libfaketime, which is not installed (scripts/ci-tools.sh)\n",
    );
  }
  return library;
}

/** Node 20 has no `glob` in `fs`: one star, for the name of the machine's architecture. */
function globOf(pattern: string): readonly string[] {
  if (!pattern.includes("*")) return existsSync(pattern) ? [pattern] : [];
  const [before = "", after = ""] = pattern.split("*");
  if (!existsSync(before)) return [];
  return readdirSync(before)
    .map((name) => `${before}${name}${after}`)
    .filter((path) => existsSync(path));
}
