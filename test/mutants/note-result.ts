/** Writes the result of a whole run into docs/proof.md, between two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FENCES, NOT_BUILT } from "./fences.ts";
import type { Verdict } from "./judge.ts";
import type { Mutant } from "./read-mutants.ts";

const PAGE = fileURLToPath(new URL("../../docs/proof.md", import.meta.url));
const [BEGIN, END] = ["<!-- mutants begin -->", "<!-- mutants end -->"];

export function noteResult(results: readonly { readonly mutant: Mutant; readonly verdict: Verdict }[]): void {
  const killed = results.filter(({ verdict }) => verdict.kind === "killed").length;
  const day = new Date().toISOString().slice(0, 10);
  const lines = [
    `${day}: **${killed} of ${results.length} killed.**`,
    "",
    "| fence | without it | killed by | |",
    "|---|---|---|---|",
    ...results.map(({ mutant, verdict }) => row(mutant, verdict)),
    "",
    `Not built yet, so without a mutant: ${NOT_BUILT.map((number) => `${number} (${FENCES[number]})`).join(", ")}.`,
  ];
  const text = readFileSync(PAGE, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error("docs/proof.md has no place for the mutants");
  writeFileSync(PAGE, `${text.slice(0, begin)}${BEGIN}\n\n${lines.join("\n")}\n\n${text.slice(end)}`);
}

function row({ fence, name, changes, killers }: Mutant, { kind }: Verdict): string {
  const files = [...new Set(changes.map(({ file }) => `\`${file}\``))].join(", ");
  const tests = killers.map(({ file, title }) => `"${title}" in \`${file}\``).join(", ");
  return `| ${fence ?? ""} | ${name}, in ${files} | ${tests} | ${kind} |`;
}
