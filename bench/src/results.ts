/** `results/last.json`: written after every scenario, so that a run which dies half way keeps what it had. */

import { mkdirSync, writeFileSync } from "node:fs";
import { type Figure, verdictOf } from "./figure.ts";

const FOLDER = new URL("../results/", import.meta.url);

export interface Run {
  readonly machine: string;
  /** The names of the scenarios that were asked for, and of those that have ended. */
  readonly asked: readonly string[];
  readonly done: readonly string[];
  readonly figures: readonly Figure[];
}

export function writeResults({ machine, asked, done, figures }: Run): void {
  const lines = figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) }));
  const result = { at: new Date().toISOString(), machine, asked, done, figures: lines };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL("last.json", FOLDER), `${JSON.stringify(result, null, 2)}\n`);
}
