/** A running warden, seen from its instance. Without a database: only real processes. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitUntil } from "../../../test/wait-until.ts";
import { wardenOf } from "../../../test/warden-of.ts";
import { monotonicMs } from "../monotonic.ts";
import { livingGroups } from "./system-processes.ts";
import { openWarden } from "./warden-client.ts";
import { OUTPUT_SOCKET } from "./warden-messages.ts";

it("gives nothing of what a process printed before it has said that the process started", async () => {
  const folder = await mkdtemp(join(tmpdir(), "output-"));
  const warden = await openWarden(folder, () => {});
  const seen: string[] = [];
  const start = async (id: string, argv: readonly string[]): Promise<number> => {
    const onOutput = (_: string, bytes: Uint8Array): number => seen.push(Buffer.from(bytes).toString());
    const spec = { argv, cwd: "/", env: { PATH: "/usr/bin:/bin" }, graceMs: 0, onOutput };
    const lease = { life: "one", leaseMs: 60_000, renewedAtMs: monotonicMs() };
    const { pid } = await warden.start(id, spec, { lease, deadline: null });
    seen.push(`${id} started`);
    return pid;
  };
  const first = await start("first", ["sleep", "100"]);
  const wardenPid = wardenOf(first);

  // It cannot say that it has started anything, and the output is there all the same.
  process.kill(wardenPid, "SIGSTOP");
  const second = start("second", ["sleep", "100"]);
  const output = connect(join(folder, OUTPUT_SOCKET));
  await new Promise((resolve) => output.write("second stdout\nprinted", resolve));
  // Connections are taken in turn: when this one is refused, the one before has been read.
  await refused(join(folder, OUTPUT_SOCKET));
  process.kill(wardenPid, "SIGCONT");
  await second;
  await waitUntil("its output is there", () => seen.includes("printed"));

  expect(seen).toEqual(["first started", "second started", "printed"]);
  output.destroy();
  await warden.close();
});

it.runIf(process.platform === "linux")(
  "does not say that it was lost before what it had started without a word has ended",
  async () => {
    const warden = await openWarden(await mkdtemp(join(tmpdir(), "lost-")), () => {});
    const spec = { argv: ["sleep", "100"], cwd: "/", env: { PATH: "/usr/bin:/bin" }, graceMs: 0 };
    const start = async (id: string): Promise<number> => {
      const watch = { lease: { life: "one", leaseMs: 60_000, renewedAtMs: monotonicMs() }, deadline: null };
      return (await warden.start(id, { ...spec, onOutput: () => {} }, watch)).pid;
    };
    const first = await start("first");
    const wardenPid = wardenOf(first);
    process.kill(wardenPid, "SIGSTOP");

    const second = start("second");
    // Stands for what the warden has started and not told of: with a child, and a neighbour that is none of it.
    const began = await printed({ SIGNALBOX_PROCESS_ID: "second" }, "sleep 100 & echo; wait");
    const neighbour = await printed({ SIGNALBOX_PROCESS_ID: "seconds" }, "echo; exec sleep 100");
    process.kill(wardenPid, "SIGKILL");
    await expect(second).rejects.toThrow("The warden was lost");

    const living = livingGroups([began, neighbour]);
    for (const group of living) process.kill(-group, "SIGKILL");
    expect(living).toEqual(new Set([neighbour]));
    await warden.close();
  },
);

/** A group of its own that has printed. */
async function printed(env: Readonly<Record<string, string>>, shell: string): Promise<number> {
  const child = spawn("/bin/sh", ["-c", shell], {
    env: { PATH: "/usr/bin:/bin", ...env },
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

async function refused(path: string): Promise<void> {
  const socket = connect(path).resume();
  socket.write("nobody stdout\n");
  await new Promise((resolve) => socket.once("close", resolve));
}
