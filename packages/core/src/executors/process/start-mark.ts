/**
 * Finds what a warden has started and not told of: by the mark of its start in the environment, which everything that it
 * starts inherits, or by the command line of who forked it, which a child has until it becomes a program of its own.
 */

import { readdirSync, readFileSync } from "node:fs";
import { statOf } from "./system-processes.ts";

/** In the environment of each process: the id of its start. */
export const START_MARK = "SIGNALBOX_PROCESS_ID";

/** Of a child that is no program yet nobody knows the id. */
interface FoundStart {
  readonly id: string | null;
  readonly groupId: number;
}

export interface Look {
  readonly found: readonly FoundStart[];
  /** Whether nothing can have been missed. */
  readonly isSure: boolean;
}

export function lookForStarts(ids: ReadonlySet<string>, forkers: ReadonlySet<string>): Look {
  try {
    const seen = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => see(pid, ids, forkers));
    return {
      found: seen.filter((each) => each !== null && each !== "unclear"),
      isSure: !seen.includes("unclear"),
    };
  } catch {
    // No free descriptor.
    return { found: [], isSure: false };
  }
}

function see(
  pid: string,
  ids: ReadonlySet<string>,
  forkers: ReadonlySet<string>,
): FoundStart | "unclear" | null {
  try {
    const stat = statOf(pid);
    // Gone before it was looked at: it may have left a child that was not there yet when all were counted.
    if (stat === null) return "unclear";
    const { state, isKernel, groupId } = stat;
    if (isKernel || "ZX".includes(state)) return null;
    // Before the environment, which is there later: without a command line it is just becoming a program.
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    if (command === "") return "unclear";
    if (forkers.has(command)) return { id: null, groupId };
    const id = markIn(readFileSync(`/proc/${pid}/environ`, "utf8"));
    return id !== null && ids.has(id) ? { id, groupId } : null;
  } catch (error) {
    return isAnothers(error) ? null : "unclear";
  }
}

/** Another user's cannot be looked at, nor could it be ended. */
function isAnothers(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function markIn(environment: string): string | null {
  const sign = `${START_MARK}=`;
  return (
    environment
      .split("\0")
      .find((entry) => entry.startsWith(sign))
      ?.slice(sign.length) ?? null
  );
}
