import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { lookForStarts, START_MARK } from "./start-mark.ts";

const groups: number[] = [];

afterEach(() => {
  for (const group of groups.splice(0)) process.kill(-group, "SIGKILL");
});

/** A group of two that has printed. Answers its id. */
async function startGroup(env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn("/bin/sh", ["-c", "/bin/sleep 300 & echo; wait"], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const group = child.pid ?? 0;
  groups.push(group);
  await once(child.stdout, "data");
  return group;
}

describe.runIf(process.platform === "linux")("what a warden has started", () => {
  it("is found by the mark of its start, and what that has started with it", async () => {
    const group = await startGroup({ A: "1", [START_MARK]: "one", B: "2" });
    await startGroup({ [START_MARK]: "onerous", [`X${START_MARK}`]: "one" });

    const { found } = lookForStarts(new Set(["one", "two"]), new Set());
    expect(found).toContainEqual({ id: "one", groupId: group });
    expect(new Set(found.map(({ groupId }) => groupId))).toEqual(new Set([group]));
  });

  it("is found by the command line of who forked it as long as it has no other", async () => {
    const group = await startGroup({});
    const command = readFileSync(`/proc/${group}/cmdline`, "utf8");

    expect(lookForStarts(new Set(["one"]), new Set(["x", command])).found).toContainEqual({
      id: null,
      groupId: group,
    });
    expect(lookForStarts(new Set(["one"]), new Set(["sleep"])).found).toEqual([]);
  });
});
