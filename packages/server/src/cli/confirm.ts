/** Asks whether it is meant, where somebody is there to answer. */

import { createInterface } from "node:readline/promises";
import { UsageError } from "../usage-error.ts";
import type { ChangeOptions } from "./shared-options.ts";

export interface Question {
  /** "Cancel 12 tasks of run nightly?" */
  readonly text: string;
  /** Cannot be undone and may do harm: where nobody can be asked, it wants `--yes`. */
  readonly grave: boolean;
}

/** False: the answer was no. */
export async function confirm(
  { text, grave }: Question,
  { yes, input }: ChangeOptions,
  terminal: { readonly isTTY?: boolean } = process.stdin,
): Promise<boolean> {
  if (yes === true) return true;
  if (terminal.isTTY === true && process.stderr.isTTY && input !== false) return await asked(text);
  if (grave)
    throw new UsageError(`Nobody can be asked here; if it is meant, repeat it with --yes. (${text})`);
  return true;
}

async function asked(text: string): Promise<boolean> {
  // On stderr: stdout has only data.
  const dialog = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await dialog.question(`${text} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    dialog.close();
  }
}
