/** Processes with their output captured: by Signalbox through its warden, and by `child_process.spawn` of the same Node. */

import { spawn } from "node:child_process";
import { createScheduler, defineProcess } from "../../../packages/core/dist/index.js";
import type { Contestant } from "./contestant.ts";
import { signalbox } from "./signalbox.ts";

export const COMMAND = "/bin/true";

const command = defineProcess({ kind: "command" });

export const signalboxProcesses: Contestant = {
  ...signalbox,
  name: "Signalbox, processes",
  openEnqueuer: async (url) => {
    const scheduler = createScheduler({ databaseUrl: url });
    return {
      addMany: async (tasks) =>
        void (await scheduler.enqueueMany(
          tasks.map(({ n }) => command.task({ argv: [COMMAND] }, { title: `${n}` })),
        )),
      addOne: async ({ n }) =>
        void (await scheduler.enqueue(command.task({ argv: [COMMAND] }, { title: `${n}` }))),
      close: async () => await scheduler.stop(),
    };
  },
  // There is no handler to be called: its end is told with the title that it was given.
  work: async ({ url, concurrency, onTask }) => {
    const scheduler = createScheduler({
      databaseUrl: url,
      tasks: [command],
      slots: concurrency,
      onEvent: (event) => {
        if (event.type === "task_run.settled" && event.status === "DONE") onTask(Number(event.title));
      },
    });
    await scheduler.start();
    return { stop: async () => await scheduler.stop() };
  },
};

/** Nothing is recorded, nobody looks after them. */
export const spawned: Contestant = {
  name: "child_process.spawn",
  install: async () => {},
  openEnqueuer: async () => ({ addMany: async () => {}, addOne: async () => {}, close: async () => {} }),
  work: async ({ concurrency, tasks, onTask }) => {
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < tasks) {
        const n = next;
        next += 1;
        await run();
        onTask(n);
      }
    };
    const loops = Promise.all(Array.from({ length: concurrency }, loop));
    return { stop: async () => void (await loops) };
  },
  leftSql: "SELECT 0 AS left",
};

async function run(): Promise<void> {
  const child = spawn(COMMAND, [], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  child.stdout.resume();
  child.stderr.resume();
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}
