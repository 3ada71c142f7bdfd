/** Where a warden has its sockets, its last words and the files of its processes. */

import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OUTPUT_SOCKET } from "./warden-messages.ts";

/** What the system takes for the path of a socket. A longer one would be cut off in silence and lead elsewhere. */
const MAX_SOCKET_PATH_BYTES = process.platform === "linux" ? 107 : 103;
/** What the warden says on standard error. Not a pipe: nobody reads it while all is well. */
const LAST_WORDS = "stderr";

export async function makeWardenFolder(): Promise<string> {
  const parent = tmpdir();
  const bytes = Buffer.byteLength(join(parent, "signalbox-XXXXXX", OUTPUT_SOCKET));
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    const size = `${bytes} bytes of at most ${MAX_SOCKET_PATH_BYTES}`;
    throw new Error(`The path of ${parent} is too long for sockets (${size}): set TMPDIR to a shorter one`);
  }
  try {
    return await mkdtemp(join(parent, "signalbox-"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const way = "make it a folder that this user can write to, or set TMPDIR to another one";
    throw new Error(`No folder can be made in ${parent} (${code}): ${way}`, { cause: error });
  }
}

export function lastWordsFile(folder: string): string {
  return join(folder, LAST_WORDS);
}

/** In one line; empty where it said nothing. */
export function lastWordsIn(folder: string): string {
  try {
    const lines = readFileSync(lastWordsFile(folder), "utf8").split("\n");
    // Of a stack the line that says what it was.
    return (
      lines.find((line) => /^(\w*Error|FATAL ERROR)\b/.test(line)) ?? lines.find((line) => line !== "") ?? ""
    );
  } catch {
    return "";
  }
}
