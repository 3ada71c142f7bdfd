/** What the system says about processes and their groups. */

import { readdirSync, readFileSync } from "node:fs";

/** All processes of this machine share it, so that times of one can be compared by another. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** To the whole group. One that is gone already needs nothing more. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-groupId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Of these groups those that still have a living process. One that has ended and is only not yet collected does not count. */
export function livingGroups(groupIds: readonly number[]): ReadonlySet<number> {
  const answering = groupIds.filter(answers);
  if (answering.length === 0 || process.platform !== "linux") return new Set(answering);
  const wanted = new Set(answering);
  const living = new Set<number>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(name) : null;
    if (stat !== null && wanted.has(stat.groupId) && !"ZX".includes(stat.state)) living.add(stat.groupId);
  }
  return living;
}

function answers(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

export function startTimeOf(pid: number): string | null {
  return process.platform === "linux" ? (readStat(String(pid))?.startTime ?? null) : null;
}

interface Stat {
  readonly state: string;
  readonly groupId: number;
  readonly startTime: string;
}

export function readStat(pid: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program is in parentheses and may contain anything, also parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", , groupId] = fields;
    return { state, groupId: Number(groupId), startTime: fields[19] ?? "" };
  } catch {
    return null; // It has ended in this very moment.
  }
}
