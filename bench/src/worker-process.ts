/** Starts processes that work for a contestant, and gathers what they did. */

import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FromWorker, ToWorker, WorkOrder, WorkReport } from "./worker-messages.ts";

const WORK = fileURLToPath(new URL("./work.ts", import.meta.url));
/** As the guide of processes says: their files are on a tmpfs, where there is one. */
const TMPFS = "/dev/shm";
const ENV = existsSync(TMPFS) ? { ...process.env, TMPDIR: TMPFS } : process.env;

export interface WorkerProcess {
  readonly pid: number;
  readonly start: () => void;
  readonly calls: () => number;
  /** Rejects once it has ended, by itself or because it was asked to. */
  readonly died: Promise<never>;
  /** Ends it, and answers what it did. */
  readonly end: () => Promise<WorkReport>;
}

export interface WorkerListener {
  readonly onCalls: () => void;
  readonly onEach?: (n: number, atMs: number) => void;
}

export async function openWorker(
  order: WorkOrder,
  { onCalls, onEach }: WorkerListener,
): Promise<WorkerProcess> {
  const child = fork(WORK, [JSON.stringify(order)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: ENV,
  });
  let calls = 0;
  let onReady = (): void => {};
  let onReport = (_: WorkReport): void => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const report = new Promise<WorkReport>((resolve) => {
    onReport = resolve;
  });
  child.on("message", (message: FromWorker) => {
    if (message.type === "ready") onReady();
    if (message.type === "report") onReport(message.report);
    if (message.type === "each") onEach?.(message.n, message.atMs);
    if (message.type !== "calls") return;
    calls = message.calls;
    onCalls();
  });
  const died = new Promise<never>((_, reject) => {
    // Whoever waits for its report has got it by then, or never will.
    child.once("close", (code) => reject(new Error(`A worker of ${order.contestant} ended with ${code}`)));
  });
  died.catch(() => {});
  await Promise.race([ready, died]);
  return {
    pid: child.pid ?? Number.NaN,
    start: () => say(child, { type: "start" }),
    calls: () => calls,
    died,
    end: async () => {
      say(child, { type: "stop" });
      const answer = await Promise.race([report, died]);
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
      return answer;
    },
  };
}

function say(child: ChildProcess, message: ToWorker): void {
  // One that cannot be told has died, and whoever waits for its report hears of that.
  child.send(message, () => {});
}
