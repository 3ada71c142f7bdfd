/**
 * What `postmaster.pid` says, and whether it still holds.
 *
 * The file outlives a killed server, and its process id may by now be a zombie or somebody else's.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import type { Cluster } from "./cluster.ts";
import { isMissing, isTaken, systemCode } from "./file-error.ts";

export interface Postmaster {
  readonly pid: number;
  /** `null` while the server has not got that far. */
  readonly port: number | null;
  readonly accepts: boolean;
}

type SeenProcess =
  | { readonly kind: "gone" }
  | { readonly kind: "running"; readonly program: string; readonly dataDir: string | null };

export type Holder =
  | { readonly kind: "none" }
  | { readonly kind: "stale"; readonly pidFileText: string }
  | { readonly kind: "live"; readonly postmaster: Postmaster };

/** Who holds the data of this cluster. */
export async function findHolder(cluster: Cluster): Promise<Holder> {
  const pidFileText = await readIfThere(cluster.pidFile);
  const postmaster = parsePidFile(pidFileText ?? "");
  if (pidFileText === null || postmaster === null) return { kind: "none" };
  const seen = await seeProcess(postmaster.pid);
  return (await isServerOf(cluster, seen)) ? { kind: "live", postmaster } : { kind: "stale", pidFileText };
}

export function parsePidFile(text: string): Postmaster | null {
  const lines = text.split("\n");
  const pid = Number.parseInt(lines[0] ?? "", 10);
  if (!(pid > 0)) return null;
  const port = Number.parseInt(lines[3] ?? "", 10);
  const status = lines[7]?.trim();
  return { pid, port: port > 0 ? port : null, accepts: status === "ready" || status === "standby" };
}

/**
 * Lets a new server start over a stale `postmaster.pid` whose process id is taken (a zombie nobody collects, another
 * program after a reboot), which PostgreSQL on its own refuses. The file is not removed: it also names the shared memory
 * by which PostgreSQL sees that processes of the killed server still write. It gets our process id instead, because a
 * server does not mind finding its parent there.
 */
export async function disarm(cluster: Cluster, pidFileText: string): Promise<void> {
  if (!isTakenPid(parsePidFile(pidFileText)?.pid ?? 0)) return;
  const aside = `${cluster.pidFile}.${randomBytes(4).toString("hex")}`;
  try {
    await rename(cluster.pidFile, aside);
    const taken = await readFile(aside, "utf8");
    // A server that started since we looked gets its file back as it was.
    const text = taken === pidFileText ? taken.replace(/^\d+/, `${process.pid}`) : taken;
    if (text !== taken) await writeFile(aside, text);
    await link(aside, cluster.pidFile);
  } catch (error) {
    // Somebody else was faster with the same, or a server has begun: either way it is no longer in the way.
    if (!isMissing(error) && !isTaken(error)) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function isServerOf(cluster: Cluster, seen: SeenProcess): Promise<boolean> {
  if (seen.kind === "gone" || !/^postgres(\.exe)?$/.test(basename(seen.program))) return false;
  // Ours are told their folder; Windows alone does not let us see it.
  if (seen.dataDir === null) return process.platform === "win32";
  try {
    const [theirs, ours] = await Promise.all([stat(seen.dataDir), stat(cluster.dataDir)]);
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch (error) {
    // Its folder was moved while it ran: still ours, since a copy would have left the original in place.
    return isMissing(error);
  }
}

async function seeProcess(pid: number): Promise<SeenProcess> {
  if (process.platform === "linux") return seeByProc(pid);
  if (process.platform === "win32") return isTakenPid(pid) ? describe(["postgres.exe"]) : { kind: "gone" };
  return seeByPs(pid);
}

async function seeByProc(pid: number): Promise<SeenProcess> {
  const [state, command] = await Promise.all([
    readIfThere(`/proc/${pid}/stat`),
    readIfThere(`/proc/${pid}/cmdline`),
  ]);
  // A zombie has no command line any more.
  if (!state || !command) return { kind: "gone" };
  return describe(command.split("\0"));
}

async function seeByPs(pid: number): Promise<SeenProcess> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-p", `${pid}`, "-o", "command="], {
      timeout: 5_000,
    });
    const match = /^(.+?) -D (.+) -p \d+ /.exec(stdout);
    return match === null ? describe([stdout.trim()]) : describe([match[1] ?? "", "-D", match[2] ?? ""]);
  } catch {
    return { kind: "gone" };
  }
}

function describe(args: readonly string[]): SeenProcess {
  const flag = args.indexOf("-D");
  return { kind: "running", program: args[0] ?? "", dataDir: flag < 0 ? null : (args[flag + 1] ?? null) };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error) || isGoneProcess(error)) return null;
    throw error;
  }
}

function isTakenPid(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

// Reading /proc of a process that ends meanwhile.
function isGoneProcess(error: unknown): boolean {
  return systemCode(error) === "ESRCH";
}
