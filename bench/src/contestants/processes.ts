/** Processes with what they print captured: by Signalbox through its warden, and by `child_process.spawn` of the same Node. */

import { spawn } from "node:child_process";
import { createScheduler, defineProcess, type SchedulerEvent } from "../../../packages/core/dist/index.js";
import type { Contestant, LoadTask, WorkOptions } from "./contestant.ts";
import { signalbox } from "./signalbox.ts";

/** A line on either output, and one that Signalbox takes for what the task gives. */
const SCRIPT = `echo "out $1"; echo "err $1" >&2; echo "SIGNALBOX_OUTPUT:{\\"n\\":$1}"`;
const argvOf = (n: number): readonly [string, ...string[]] => ["/bin/sh", "-c", SCRIPT, "sh", `${n}`];
const STDOUT = "'out ' || n || E'\\nSIGNALBOX_OUTPUT:{\"n\":' || n || E'}\\n'";
const STDERR = "'err ' || n || E'\\n'";

const command = defineProcess({ kind: "command" });

interface Way {
  readonly argv: (n: number) => readonly [string, ...string[]];
  readonly isCounted: (event: SchedulerEvent) => boolean;
}

/**
 * There is no handler to be called: what is counted is told by an event, with the title that the task was given. An event has
 * no length, so what overlaps is not seen by it.
 */
function processesOf({ argv, isCounted }: Way): Pick<Contestant, "openEnqueuer" | "work"> {
  const specOf = ({ n }: LoadTask) => command.task({ argv: argv(n) }, { title: `${n}` });
  return {
    openEnqueuer: async (url) => {
      const scheduler = createScheduler({ databaseUrl: url });
      return {
        addMany: async (tasks) => void (await scheduler.enqueueMany(tasks.map(specOf))),
        addOne: async (task) => void (await scheduler.enqueue(specOf(task))),
        close: async () => await scheduler.stop(),
      };
    },
    work: async ({ url, concurrency, onTask, onEnd, onStarted, onFault }) => {
      const claimedAtMs = new Map<string, number>();
      const scheduler = createScheduler({
        databaseUrl: url,
        tasks: [command],
        slots: concurrency,
        drainMs: 0,
        onEvent: (event) => {
          if (event.type === "task_run.claimed") claimedAtMs.set(event.taskRunId, performance.now());
          if (event.type === "process.started")
            onStarted(performance.now() - (claimedAtMs.get(event.taskRunId) ?? Number.NaN));
          if (event.type === "process.ended" && !event.told && event.exitCode !== 0)
            onFault(`a process ended with ${event.exitCode ?? event.signal}`);
          if (isCounted(event) && "title" in event) {
            onTask(Number(event.title));
            onEnd(Number(event.title));
          }
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
  ...processesOf({
    argv: argvOf,
    isCounted: (event) => event.type === "task_run.settled" && event.status === "DONE",
  }),
};

/** SQL that counts the ended ones of which the lines or the output are not what they printed. */
export const NOT_CAPTURED_SQL = `
  SELECT count(*)::int AS missing
    FROM (SELECT t.id, k.title AS n FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id) AS printed
    LEFT JOIN signalbox.task_run_result AS r ON r.task_run_id = printed.id
    LEFT JOIN LATERAL (
         SELECT string_agg(text, '' ORDER BY start_offset) FILTER (WHERE stream = 'stdout') AS stdout,
                string_agg(text, '' ORDER BY start_offset) FILTER (WHERE stream = 'stderr') AS stderr
           FROM signalbox.log_chunk WHERE task_run_id = printed.id) AS log ON true
   WHERE (log.stdout, log.stderr, r.output->>'n') IS DISTINCT FROM (${STDOUT}, ${STDERR}, n)`;

/** They do nothing, and are ended with their instance. */
export const signalboxSleepers: Contestant = {
  ...signalbox,
  name: "Signalbox, idle processes",
  ...processesOf({
    argv: () => ["/bin/sleep", "600"],
    isCounted: (event) => event.type === "process.started",
  }),
};

/** Nothing is recorded, nobody looks after them. */
export const spawned: Contestant = {
  name: "child_process.spawn",
  install: async () => {},
  openEnqueuer: async () => ({ addMany: async () => {}, addOne: async () => {}, close: async () => {} }),
  work: async (options) => {
    const { concurrency, tasks, onTask, onEnd } = options;
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < tasks) {
        const n = next;
        next += 1;
        await run(n, options);
        onTask(n);
        onEnd(n);
      }
    };
    const loops = Promise.all(Array.from({ length: concurrency }, loop));
    return { stop: async () => void (await loops) };
  },
  leftSql: "SELECT 0 AS left",
};

async function run(n: number, { onFault }: WorkOptions): Promise<void> {
  const [file, ...args] = argvOf(n);
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) onFault(`a process ended with ${code}`);
  if (stdout !== `out ${n}\nSIGNALBOX_OUTPUT:{"n":${n}}\n` || stderr !== `err ${n}\n`)
    onFault("what a process printed was not captured");
}
