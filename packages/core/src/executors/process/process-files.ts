/**
 * The files that a process is given, in a folder of its own. What may wait for the disk (names that come and go) is left to the
 * thread pool; the rest is done at once, since every turn of the pool costs more than the act itself.
 */

import { closeSync, open as openFile, unlinkSync, writeSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { CheckedProcess } from "./process-input.ts";

export interface ProcessFiles {
  readonly input: string;
  readonly output: string;
  readonly stdin: string | null;
}

const INPUT = "input.json";
const OUTPUT = "output.json";
/** A bare descriptor: it is closed in the same turn. */
const open = promisify(openFile);

export async function writeFiles(
  folder: string,
  { input, stdin }: Pick<CheckedProcess, "input" | "stdin">,
): Promise<ProcessFiles> {
  const files: ProcessFiles = {
    input: join(folder, INPUT),
    output: join(folder, OUTPUT),
    stdin: stdin === null ? null : join(folder, "stdin"),
  };
  await Promise.all([
    write(files.input, JSON.stringify(input)),
    write(files.output, ""),
    files.stdin === null ? null : write(files.stdin, stdin ?? ""),
  ]);
  return files;
}

async function write(file: string, text: string): Promise<void> {
  const fd = await open(file, "wx", 0o600);
  try {
    let rest: Uint8Array = Buffer.from(text);
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } finally {
    closeSync(fd);
  }
}

/** What cannot be removed says nothing about how the process ended. */
export async function removeFiles(folder: string): Promise<void> {
  try {
    for (const name of [INPUT, OUTPUT]) unlinkSync(join(folder, name));
    await rmdir(folder);
  } catch {
    // It was given more, has left something there, or has taken it away.
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}
