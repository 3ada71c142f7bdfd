/** Reads `migrations/*.sql` and cuts each file into the steps that are applied one by one. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export interface MigrationStep {
  readonly text: string;
  /** Statements such as CREATE INDEX CONCURRENTLY refuse to run inside one; such a step can be run again. */
  readonly inTransaction: boolean;
}

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly steps: readonly MigrationStep[];
}

// The same depth in src and in dist.
const FOLDER = new URL("../../../migrations/", import.meta.url);
const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;
const STEP = /^-- step( outside a transaction)?$/m;

export function readMigrations(): readonly Migration[] {
  return readdirSync(FOLDER)
    .flatMap((file) => {
      const number = FILE.exec(file)?.[1];
      return number === undefined ? [] : [parseMigration(Number(number), file)];
    })
    .toSorted((a, b) => a.number - b.number);
}

function parseMigration(number: number, file: string): Migration {
  const text = readFileSync(new URL(file, FOLDER), "utf8");
  return {
    number,
    name: file.replace(/\.sql$/, ""),
    checksum: createHash("sha256").update(text).digest("hex"),
    steps: cutIntoSteps(text),
  };
}

function cutIntoSteps(text: string): readonly MigrationStep[] {
  // With a capturing group, split yields text, marker, text, marker, …, text.
  const parts = text.split(STEP);
  const steps: MigrationStep[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const inTransaction = i === 0 || parts[i - 1] === undefined;
    steps.push({ text: parts[i] ?? "", inTransaction });
  }
  return steps;
}
