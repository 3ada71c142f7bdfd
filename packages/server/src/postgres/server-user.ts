/** Whom the server runs as: PostgreSQL refuses root, so root lends it another user. */
import { readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { isMissing } from "./file-error.ts";
import { launchError } from "./launch-error.ts";

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  /** Only root lends: then files must be given to this user and programs started as it. */
  readonly lent: boolean;
}

export interface PasswdEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** The user for the data in `dataDir`, whether it exists or shall be created. */
export async function chooseServerUser(dataDir: string): Promise<ServerUser> {
  if (!mustLend()) return ownUser();
  const entry = pickServerUser(await readPasswd(), await ownerOf(dataDir));
  if (entry === null) throw launchError("NO_SERVER_USER", {});
  return { ...entry, lent: true };
}

/**
 * Data that is there decides, because PostgreSQL starts only as the owner of its data; then `postgres`, which may
 * exist for this purpose, then `nobody`, which exists everywhere.
 */
export function pickServerUser(
  known: readonly PasswdEntry[],
  dataOwner: FileOwner | null,
): PasswdEntry | null {
  if (dataOwner !== null && dataOwner.uid !== 0) {
    return known.find(({ uid }) => uid === dataOwner.uid) ?? { ...dataOwner, name: `${dataOwner.uid}` };
  }
  const named = (wanted: string) => known.find(({ name, uid }) => name === wanted && uid !== 0);
  return named("postgres") ?? named("nobody") ?? null;
}

/** Whether PostgreSQL would refuse the user we are. */
export function mustLend(): boolean {
  return process.getuid?.() === 0;
}

/** What a spawn needs to run a program as this user. */
export function spawnIdentity(user: ServerUser): { readonly uid?: number; readonly gid?: number } {
  return user.lent ? { uid: user.uid, gid: user.gid } : {};
}

/** initdb looks its user up by name and gives up on one without an entry: say so before it does. */
export function assertPasswdEntry(user: ServerUser): void {
  if (user.lent) return;
  try {
    userInfo();
  } catch (cause) {
    throw launchError("NO_PASSWD_ENTRY", { uid: user.uid }, { cause });
  }
}

export function parsePasswd(text: string): readonly PasswdEntry[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (!name || !uid || !gid) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

function ownUser(): ServerUser {
  const uid = process.getuid?.() ?? 0;
  return { uid, gid: process.getgid?.() ?? 0, name: `${uid}`, lent: false };
}

async function readPasswd(): Promise<readonly PasswdEntry[]> {
  try {
    return parsePasswd(await readFile("/etc/passwd", "utf8"));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function ownerOf(path: string): Promise<FileOwner | null> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
