/** The process of one instance, seen from the parent: what it runs, and how to end, freeze and wake it. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { FromInstance, InstanceEvent, StartInstance } from "./instance-messages.ts";
import { siblingModule } from "./sibling-module.ts";

export interface InstanceProcess {
  readonly name: string;
  /** What it runs, as far as it has told: title by task run id. */
  readonly running: ReadonlyMap<string, string>;
  readonly frozen: boolean;
  /** Resolves once it has joined; rejects with what kept it from doing so. */
  readonly joined: Promise<void>;
  /** Resolves once the process is gone. */
  readonly ended: Promise<{ readonly expected: boolean; readonly why: string }>;
  kill(): void;
  freeze(): void;
  wake(): void;
  /** Lets it finish what it runs. Resolves once the process is gone; ends it by force after `patienceMs`. */
  leave(patienceMs: number): Promise<void>;
}

export function startInstanceProcess(
  start: StartInstance,
  onEvent: (event: InstanceEvent) => void,
): InstanceProcess {
  const child = fork(siblingModule(import.meta.url, "./instance"), {
    // A group of its own: the terminal's Ctrl-C must not reach it before the parent has decided.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const running = new Map<string, string>();
  const lastWords = collectLastWords(child);
  let frozen = false;
  let expected = false;

  const joined = new Promise<void>((resolve, reject) => {
    child.on("message", (message: FromInstance) => {
      if (message.kind === "failed") return reject(new Error(message.message));
      if (message.event.type === "instance.joined") resolve();
      keepCount(running, message.event);
      onEvent(message.event);
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(lastWords() || "its process ended")));
  });
  // Whoever does not wait for it is told by `ended`.
  joined.catch(() => {});
  const ended = once(child, "exit").then(
    ([code, signal]) => ({ expected, why: lastWords() || `exit ${String(signal ?? code)}` }),
    (error: unknown) => ({ expected, why: String(error) }),
  );
  child.send(start, () => {});

  const signal = (name: NodeJS.Signals): void => {
    frozen = name === "SIGSTOP";
    child.kill(name);
  };
  return {
    name: start.name,
    running,
    get frozen() {
      return frozen;
    },
    joined,
    ended,
    kill: () => {
      expected = true;
      signal("SIGKILL");
    },
    freeze: () => signal("SIGSTOP"),
    wake: () => signal("SIGCONT"),
    leave: async (patienceMs) => {
      expected = true;
      // A frozen process hears nothing until it is woken.
      if (frozen) signal("SIGCONT");
      signal("SIGTERM");
      const force = setTimeout(() => signal("SIGKILL"), patienceMs);
      await ended;
      clearTimeout(force);
    },
  };
}

const GIVES_UP_ALL: ReadonlySet<InstanceEvent["type"]> = new Set(["instance.fenced", "instance.left"]);
const GIVES_UP_ONE: ReadonlySet<InstanceEvent["type"]> = new Set([
  "task_run.settled",
  "task_run.deferred",
  "task_run.let_go",
  "task_run.refused",
  "task_run.handed_back",
  "task_run.aborted",
]);

function keepCount(running: Map<string, string>, event: InstanceEvent): void {
  if (event.type === "task_run.claimed") running.set(event.taskRunId, event.title);
  else if (GIVES_UP_ONE.has(event.type) && "taskRunId" in event) running.delete(event.taskRunId);
  else if (GIVES_UP_ALL.has(event.type)) running.clear();
}

/** The end of what it wrote to stderr: all there is to say about a crash. */
function collectLastWords(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text.trim();
}
