import type { WrittenJson } from "../domain/json-value.ts";

/** What keeps a value of an execution from being stored, as a sentence. */
export function sentenceOn(what: string, { at, problem }: Extract<WrittenJson, { kind: "problem" }>): string {
  return `${what}${at === "" ? "" : ` at ${at}`} ${problem}`;
}
