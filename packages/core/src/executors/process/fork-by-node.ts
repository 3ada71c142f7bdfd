/** Forks from this process: its loop stands still meanwhile, and a fork of a Node takes its time. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Begun, Forker } from "./forker.ts";
import { startTimeOf } from "./system-processes.ts";
import { OUTPUT_SOCKET, type StartMessage } from "./warden-messages.ts";

export function createNodeForker(folder: string): Forker {
  return {
    begin: async (start, { requireWanted }) => {
      let outputs: readonly Socket[] = [];
      try {
        outputs = await Promise.all([
          openOutput(folder, start.id, "stdout"),
          openOutput(folder, start.id, "stderr"),
        ]);
        requireWanted();
        return await begun(spawnGroup(start, outputs));
      } finally {
        // The child has its own copy of each; ours would keep them open.
        for (const output of outputs) output.destroy();
      }
    },
    answers: async () => {},
    // Whatever waits to be begun asks first.
    kill: () => {},
  };
}

/** A direct way from the child to the instance: what it prints does not pass through here. */
async function openOutput(folder: string, id: string, stream: "stdout" | "stderr"): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(join(folder, OUTPUT_SOCKET));
    socket.once("error", reject);
    socket.write(`${id} ${stream}\n`, () => resolve(socket));
  });
}

function spawnGroup({ argv, cwd, env, stdinFile }: StartMessage, outputs: readonly Socket[]): ChildProcess {
  const [command = "", ...args] = argv;
  const stdin = stdinFile === null ? null : openSync(stdinFile, "r");
  try {
    return spawn(command, args, { cwd, env, detached: true, stdio: [stdin ?? "ignore", ...outputs] });
  } finally {
    if (stdin !== null) closeSync(stdin);
  }
}

async function begun(child: ChildProcess): Promise<Begun> {
  const { pid } = child;
  // Known at once where it was started; otherwise the reason comes as an event.
  if (pid === undefined) throw await new Promise<Error>((resolve) => child.once("error", resolve));
  child.once("error", () => {});
  const exited = new Promise<Awaited<Begun["exited"]>>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return { pid, startTime: startTimeOf(pid), exited };
}
