/** A running warden, seen from its instance. Without a database: only real processes. */

import { mkdtemp } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitUntil } from "../../../test/wait-until.ts";
import { childrenOf, monotonicMs } from "./system-processes.ts";
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
  const wardenPid = childrenOf(process.pid).find((pid) => childrenOf(pid).includes(first)) ?? 0;

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

async function refused(path: string): Promise<void> {
  const socket = connect(path).resume();
  socket.write("nobody stdout\n");
  await new Promise((resolve) => socket.once("close", resolve));
}
