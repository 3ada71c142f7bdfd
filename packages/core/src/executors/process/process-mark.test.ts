import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { hasWarden, ownMark, stateOf, wardenSign } from "./process-mark.ts";
import { startTimeOf } from "./system-processes.ts";

const onLinux = describe.runIf(process.platform === "linux");
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
});

/** Sleeps until it is killed, and prints once it is there. */
async function start(...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1e6)", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
function markOf({ pid = 0 }: ChildProcess): string {
  return `${pid}:${startTimeOf(pid)}`;
}

onLinux("the mark of a process", () => {
  it("says that this process lives, and is the same each time", () => {
    const mark = ownMark();

    expect(mark?.process).toMatch(/^\d+:\d+$/);
    expect(stateOf(mark?.process ?? "")).toBe("living");
    expect(ownMark()).toEqual(mark);
  });

  it("is of a host that tells the ids and the times of its processes as this one does", () => {
    for (const view of ["pid", "time"])
      expect(ownMark()?.host).toContain(readlinkSync(`/proc/self/ns/${view}`));
  });

  it("says that another one lives until it has ended", async () => {
    const child = await start();
    const mark = markOf(child);
    expect(stateOf(mark)).toBe("living");

    await end(child);

    expect(stateOf(mark)).toBe("gone");
  });

  it("is not taken for a later process that got the same id", () => {
    expect(stateOf(`${process.pid}:${Number(startTimeOf(process.pid)) - 1}`)).toBe("gone");
  });

  it("does not count as gone what only its parent has not taken note of", async () => {
    // It never asks after its child, which stays in the list of processes when it has ended. A shell might ask.
    const parent = spawn("/bin/sh", ["-c", "cat <&3 & echo $!; exec sleep 300"], {
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    children.push(parent);
    const [printed] = await once(parent.stdout as Readable, "data");
    const pid = Number(String(printed));
    while (!readFileSync(`/proc/${parent.pid}/cmdline`, "latin1").startsWith("sleep"))
      await new Promise(setImmediate);
    (parent.stdio[3] as Writable).end();
    while (stateOf(`${pid}:${startTimeOf(pid)}`) === "living") await new Promise(setImmediate);

    expect(stateOf(`${pid}:${startTimeOf(pid)}`)).toBe("ending");
  });
});

onLinux("a warden", () => {
  it("is found by the sign it carries as long as it is there", async () => {
    const child = await start("--", wardenSign("12:34"));
    expect(hasWarden("12:34")).toBe(true);
    expect(hasWarden("12:345")).toBe(false);

    await end(child);

    expect(hasWarden("12:34")).toBe(false);
  });
});
