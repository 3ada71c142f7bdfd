/** Processes with their output captured: by Signalbox through its warden, and by `child_process.spawn` of the same Node. */

import { spawn } from "node:child_process";
import { createScheduler, defineProcess, type SchedulerEvent } from "../../../packages/core/dist/index.js";
import type { Contestant, LoadTask } from "./contestant.ts";
import { signalbox } from "./signalbox.ts";

const COMMAND = "/bin/true";

const command = defineProcess({ kind: "command" });

/** There is no handler to be called: what is counted is told by an event, with the title that the task was given. */
function ofArgv(
  argv: readonly string[],
  isCounted: (event: SchedulerEvent) => boolean,
): Pick<Contestant, "openEnqueuer" | "work"> {
  const specOf = ({ n }: LoadTask) => command.task({ argv }, { title: `${n}` });
  return {
    openEnqueuer: async (url) => {
      const scheduler = createScheduler({ databaseUrl: url });
      return {
        addMany: async (tasks) => void (await scheduler.enqueueMany(tasks.map(specOf))),
        addOne: async (task) => void (await scheduler.enqueue(specOf(task))),
        close: async () => await scheduler.stop(),
      };
    },
    work: async ({ url, concurrency, onTask }) => {
      const scheduler = createScheduler({
        databaseUrl: url,
        tasks: [command],
        slots: concurrency,
        drainMs: 0,
        onEvent: (event) => {
          if (isCounted(event) && "title" in event) onTask(Number(event.title));
        },
      });
      await scheduler.start();
      return { stop: async () => await scheduler.stop() };
    },
  };
}

export const signalboxProcesses: Contestant = {
  ...signalbox,
  name: "Signalbox, processes",
  ...ofArgv([COMMAND], (event) => event.type === "task_run.settled" && event.status === "DONE"),
};

/** They do nothing, and are ended with their instance. */
export const signalboxSleepers: Contestant = {
  ...signalbox,
  name: "Signalbox, idle processes",
  ...ofArgv(["/bin/sleep", "600"], (event) => event.type === "process.started"),
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
