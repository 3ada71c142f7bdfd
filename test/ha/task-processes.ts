/** The processes of task runs as the system shows them, by what they carry in their environment. */

import { readdirSync, readFileSync } from "node:fs";

export interface TaskProcess {
  readonly pid: number;
  readonly parentPid: number;
}

/** The warden of one whose parent this is: the parent itself, or who started it where another one forks for the warden. */
export function wardenOf(parentPid: number): number {
  const isForker = readFileSync(`/proc/${parentPid}/cmdline`, "latin1").includes("/forker.pl\0");
  return isForker ? parentOf(parentPid) : parentPid;
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Those that live. One that has ended and is not yet collected by its parent has no environment any more. */
export function processesOf(taskRunIds: readonly string[]): readonly TaskProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
        if (!taskRunIds.some((id) => environment.includes(`SIGNALBOX_TASK_RUN_ID=${id}`))) return [];
        return [{ pid: Number(pid), parentPid: parentOf(Number(pid)) }];
      } catch {
        return []; // It has ended in this very moment, or is somebody else's.
      }
    });
}

/** In bytes, now and at its highest. */
export function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]);
  return { now: kilobytes("VmRSS") * 1024, highest: kilobytes("VmHWM") * 1024 };
}
