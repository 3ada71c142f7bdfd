/**
 * Whether a user the process is about to lend can get at a path.
 *
 * Judged from modes and owners: access lists may make it wrong, then the program itself reports what it could not open.
 */
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "./file-error.ts";
import type { ServerUser } from "./server-user.ts";

export interface Owned {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

const READ = 4;
const ENTER = 1;

/** True where every existing folder on the way to `path`, itself included, lets the user through. */
export async function canReach(user: ServerUser, path: string): Promise<boolean> {
  if (!user.lent) return true;
  let at = await nearestExisting(path);
  for (;;) {
    if (!mayEnter(await stat(at), user)) return false;
    const parent = dirname(at);
    if (parent === at) return true;
    at = parent;
  }
}

export function mayEnter(owned: Owned, user: Pick<ServerUser, "uid" | "gid">): boolean {
  return (bitsFor(owned, user) & ENTER) !== 0;
}

/** A folder whose entries the user may list and open, or a program it may start. */
export function mayUse(owned: Owned, user: Pick<ServerUser, "uid" | "gid">): boolean {
  return (bitsFor(owned, user) & (READ | ENTER)) === (READ | ENTER);
}

// The first class that matches counts, even when a later one would allow more. A lent user has no further groups.
function bitsFor(owned: Owned, user: Pick<ServerUser, "uid" | "gid">): number {
  if (owned.uid === user.uid) return (owned.mode >> 6) & 7;
  if (owned.gid === user.gid) return (owned.mode >> 3) & 7;
  return owned.mode & 7;
}

/** The real path of the longest part of `path` that exists. */
async function nearestExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return nearestExisting(dirname(path));
  }
}
