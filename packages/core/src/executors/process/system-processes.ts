/** What the system says about processes and their groups. */

import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * To the whole group. One that is gone already needs nothing more, and one that has become another user's (by sudo or su) goes
 * on until it ends by itself: neither is a reason to leave other groups alone.
 */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-groupId, signal);
  } catch (error) {
    if (!["ESRCH", "EPERM"].includes(codeOf(error))) throw error;
  }
}

/** Of these groups those that still have a living process. One that has ended and is only not yet collected does not count. */
export function livingGroups(groupIds: readonly number[]): ReadonlySet<number> {
  const answering = new Set(groupIds.filter(answers));
  if (answering.size === 0 || process.platform !== "linux") return answering;
  try {
    return groupsAtWork(answering);
  } catch {
    // Without a free descriptor nobody can look. Then none of them is known to have ended.
    return answering;
  }
}

function groupsAtWork(wanted: ReadonlySet<number>): ReadonlySet<number> {
  const living = new Set<number>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null;
    if (stat !== null && wanted.has(stat.groupId) && !"ZX".includes(stat.state)) living.add(stat.groupId);
  }
  return living;
}

/** Nobody, where the system does not tell, or cannot be asked just now. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync("/proc").flatMap((name) =>
      /^\d+$/.test(name) && readStat(name)?.parentId === pid ? [Number(name)] : [],
    );
  } catch {
    return [];
  }
}

/** As the system shows it. */
export function commandLine(args: readonly string[]): string {
  return args.map((argument) => `${argument}\0`).join("");
}

/** Its children first, each with its group: it may not have come to tell of one of them. */
export function killWithChildren(parent: ChildProcess): void {
  for (const pid of parent.pid === undefined ? [] : childrenOf(parent.pid)) signalGroup(pid, "SIGKILL");
  parent.kill("SIGKILL");
}

function answers(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

export function startTimeOf(pid: number): string | null {
  return process.platform === "linux" ? (readStat(String(pid))?.startTime ?? null) : null;
}

interface Stat {
  readonly state: string;
  readonly parentId: number;
  readonly groupId: number;
  /** A thread of the kernel, which runs no program. */
  readonly isKernel: boolean;
  readonly startTime: string;
}

/** PF_KTHREAD. */
const KERNEL_FLAG = 0x20_0000;

/** Null where it is not to be seen, for whatever reason. */
export function readStat(pid: string): Stat | null {
  try {
    return statOf(pid);
  } catch {
    return null;
  }
}

/** Null only where it has ended in this very moment. */
export function statOf(pid: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program is in parentheses and may contain anything, also parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", parentId, groupId] = fields;
    return {
      state,
      parentId: Number(parentId),
      groupId: Number(groupId),
      isKernel: (Number(fields[6]) & KERNEL_FLAG) !== 0,
      startTime: fields[19] ?? "",
    };
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(codeOf(error))) return null;
    throw error;
  }
}
