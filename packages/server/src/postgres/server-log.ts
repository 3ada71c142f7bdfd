/** The file the server writes its log to. Appended to by every start, put away when it has grown. */
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { mustLend } from "./server-user.ts";

const PUT_AWAY_BYTES = 10 * 1024 * 1024;
const SHOWN_LINES = 12;

export interface OpenLog {
  readonly file: FileHandle;
  /** Where this start's lines begin. */
  readonly from: number;
}

export async function openLog(logFile: string): Promise<OpenLog> {
  const before = await stat(logFile).catch(() => null);
  if (before !== null && before.size > PUT_AWAY_BYTES) await rename(logFile, `${logFile}.1`);
  // Not through a link: the folder may belong to somebody else than the root who opens this.
  const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const file = await open(logFile, flags, 0o600);
  await giveToFolderOwner(file, logFile);
  return { file, from: (await file.stat()).size };
}

export async function linesSince(logFile: string, from: number): Promise<readonly string[]> {
  const bytes = await readFile(logFile).catch(() => Buffer.alloc(0));
  return bytes.subarray(from).toString("utf8").trim().split("\n");
}

export function lastOf(lines: readonly string[]): readonly string[] {
  return lines.slice(-SHOWN_LINES);
}

// A root who visits must not leave a log that the owner of the folder cannot append to.
async function giveToFolderOwner(file: FileHandle, logFile: string): Promise<void> {
  if (!mustLend()) return;
  const { uid, gid } = await stat(dirname(logFile));
  await file.chown(uid, gid);
}
