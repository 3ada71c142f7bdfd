/** What a process answers: the file it was given for it, or the last line on standard output that says so. */

import { constants, lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { ExecutionFailedError } from "../executor.ts";

const OUTPUT_MARK = "SIGNALBOX_OUTPUT:";
/** More bytes can be no output that is stored; they are not even read. */
const MAX_OUTPUT_BYTES = 1_048_576;

export interface OutputLine {
  readonly read: (bytes: Uint8Array) => void;
  /** What followed the mark in its last line; null: there was none. */
  readonly last: () => Buffer | null;
}

const MARK = Buffer.from(OUTPUT_MARK);
const MARK_ON_A_NEW_LINE = Buffer.from(`\n${OUTPUT_MARK}`);
const NEW_LINE = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Looks for the line in what goes by and keeps nothing else. Not line by line: there may be hundreds of millions
 * of them, and a search for the mark finds it as fast as memory can be read.
 */
export function watchForOutputLine(): OutputLine {
  /** The beginning of a line that may be one; null: in the middle of one that is not. */
  let line: Buffer | null = Buffer.alloc(0);
  let last: Buffer | null = null;

  /** Answers what comes behind the line that the bytes are in; null: it goes on. */
  const finishLine = (bytes: Buffer): Buffer | null => {
    const end = bytes.indexOf(NEW_LINE);
    if (line !== null && line.length <= MARK.length + MAX_OUTPUT_BYTES)
      line = asCandidate(Buffer.concat([line, end < 0 ? bytes : bytes.subarray(0, end)]));
    if (end < 0) return null;
    last = valueOf(line) ?? last;
    line = Buffer.alloc(0);
    return bytes.subarray(end + 1);
  };
  return {
    read: (bytes) => {
      let rest = finishLine(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      while (rest !== null && rest.length > 0) rest = finishLine(rest.subarray(nextStart(rest)));
    },
    last: () => valueOf(line) ?? last,
  };
}

/** Where the next line begins that may be one, from the beginning of a line; the last line may always be. */
function nextStart(bytes: Buffer): number {
  if (bytes.subarray(0, MARK.length).equals(MARK)) return 0;
  const found = bytes.indexOf(MARK_ON_A_NEW_LINE);
  return (found < 0 ? bytes.lastIndexOf(NEW_LINE) : found) + 1;
}

function asCandidate(line: Buffer): Buffer | null {
  const isLike = line.subarray(0, MARK.length).equals(MARK.subarray(0, line.length));
  // One byte more than is allowed is kept: it says that the line was too long.
  return isLike ? line.subarray(0, MARK.length + MAX_OUTPUT_BYTES + 1) : null;
}

function valueOf(line: Buffer | null): Buffer | null {
  return line === null || line.length < MARK.length ? null : line.subarray(MARK.length);
}

/** The file goes before the line; neither of them means that there is no output. */
export async function readOutput(file: string, line: Buffer | null): Promise<unknown> {
  const inFile = await readStart(file);
  const bytes = inFile.length > 0 ? inFile : (line ?? inFile);
  if (bytes.length > MAX_OUTPUT_BYTES)
    throw notStorable(`The output is longer than ${MAX_OUTPUT_BYTES} bytes`);
  const text = decode(bytes);
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw notStorable(`The output is not JSON: ${messageOf(error)}`);
  }
}

/** Bytes that are no text would come out as other ones: an output is kept as it is, or not at all. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notStorable("The output is not UTF-8");
  }
}

/** Most processes leave the file as it was made: one look, and nothing is opened. */
function isUntouched(file: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === 0;
}

/** A process that removed its file gave no output by it. */
async function readStart(file: string): Promise<Buffer> {
  try {
    if (isUntouched(file)) return NOTHING;
    // Without waiting: it may be a pipe by now, to which nobody writes. And what a link leads to is no output.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw noFile();
      // One byte more than is allowed says that it is too long. Not as much for all: memory has to be collected too.
      const most = Buffer.alloc(Math.min(stat.size, MAX_OUTPUT_BYTES) + 1);
      const { buffer, bytesRead } = await handle.read(most, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ExecutionFailedError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ENOENT") return NOTHING;
    if (code === "ELOOP") throw noFile();
    throw notStorable(`The output file cannot be read: ${messageOf(error)}`);
  }
}

function noFile(): ExecutionFailedError {
  return notStorable("The output file is not a file any more");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function notStorable(message: string): ExecutionFailedError {
  return new ExecutionFailedError("OUTPUT_NOT_STORABLE", message, { retryable: false });
}
