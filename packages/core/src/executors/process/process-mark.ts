/** Tells this process from every other one of the host, and whether another one is still there. */

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ProcessMark } from "../../domain/process-mark.ts";
import { readStat } from "./system-processes.ts";

let own: ProcessMark | null | undefined;

/** Null where the system does not say enough: nothing is proven there, and leases run out by themselves. */
export function ownMark(): ProcessMark | null {
  // Once: the row of the instance and the sign of its warden must be of one mind.
  own = own === undefined ? readOwnMark() : own;
  return own;
}

function readOwnMark(): ProcessMark | null {
  if (process.platform !== "linux") return null;
  try {
    // Where /proc shows another view than ours, its ids are not ours.
    if (readlinkSync("/proc/self") !== String(process.pid)) return null;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    const started = readStat(String(process.pid))?.startTime;
    if (boot === "" || started === undefined) return null;
    // Processes of other users may be hidden.
    const view = `${readlinkSync("/proc/self/ns/pid")} ${timeView()} uid ${process.getuid?.()}`;
    return { host: `${hostname()} ${boot} ${view}`, process: `${process.pid}:${started}` };
  } catch {
    return null;
  }
}

/** When a process started is told by the clock of whoever asks. Kernels before 5.6 have one for all. */
function timeView(): string {
  return existsSync("/proc/self/ns/time") ? readlinkSync("/proc/self/ns/time") : "";
}

/** `ending`: it has ended, and its parent has not taken note of it yet; some of it may still be at work. */
export function stateOf(mark: string): "living" | "ending" | "gone" {
  const [pid = "", started = ""] = mark.split(":");
  if (!isThere(Number(pid))) return "gone";
  const stat = readStat(pid);
  // There, but not to be seen, or started in this very moment.
  if (stat === null) return "living";
  if (stat.startTime !== started) return "gone";
  return "ZX".includes(stat.state) ? "ending" : "living";
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** What a warden carries in its command line, so that it can be found when its instance is gone. */
export function wardenSign(mark: string): string {
  return `--instance=${mark}`;
}

/** Whether a warden of this process is still there: it goes when all it watches over has ended. */
export function hasWarden(mark: string): boolean {
  const sign = wardenSign(mark);
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && argumentsOf(name).includes(sign));
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch (error) {
    // It has ended in this very moment. Whatever else keeps us from looking proves nothing.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
