/**
 * Everything a command says goes through here: what it found to stdout, everything else to stderr.
 *
 * Colour only where a person looks, or where it was asked for: a pipe gets no escape codes.
 */

import { createLook, type Look } from "../render/look.ts";

export interface Output {
  /** How the data is to look. */
  readonly look: Look;
  /** stdout: what was asked for. */
  readonly data: (line: string) => void;
  /** stderr: what else there is to say. */
  readonly note: (line: string) => void;
  /** What to do when nobody reads stdout any more (`| head`). Default: end quietly. */
  readonly whenClosed: (act: () => void) => void;
}

export interface OutputWish {
  /** From the flag, else from the environment; null: as the terminal is. */
  readonly color: boolean | null;
  readonly unicode: boolean;
}

/** The reader of a pipe is gone, or the terminal was closed. */
const NOBODY_THERE: readonly string[] = ["EPIPE", "EIO"];

export function createOutput({ color, unicode }: OutputWish): Output {
  const look = createLook({ color: color ?? process.stdout.isTTY === true, unicode });
  let onClosed = (): void => process.exit(0);
  let closed = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (!("code" in error) || !NOBODY_THERE.includes(String(error.code))) throw error;
      if (!closed) onClosed();
      closed = true;
    });
  }
  return {
    look,
    data: (line) => void (closed || process.stdout.write(`${line}\n`)),
    note: (line) => void (closed || process.stderr.write(`${line}\n`)),
    whenClosed: (act) => {
      onClosed = act;
    },
  };
}
