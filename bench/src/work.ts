/** A process of its own that works for one contestant: `work.ts <order>`, told by messages when to start and stop. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Worker } from "./contestants/contestant.ts";
import { CONTESTANTS } from "./contestants/index.ts";
import type { FromWorker, ToWorker, WorkOrder } from "./worker-messages.ts";

const TELL_MS = 20;

const order = JSON.parse(process.argv[2] ?? "") as WorkOrder;
const seen = new Uint8Array(order.tasks);
const untimed = order.untimed ?? 0;
const delay = monitorEventLoopDelay({ resolution: 1 });
/** Where each begin and each end came in the order of all that this process saw, from 1. */
const began = new Int32Array(order.tasks);
const ended = new Int32Array(order.tasks);
let events = 0;
let calls = 0;
let told = 0;
let firstAtMs = 0;
let lastAtMs = 0;
let cpuBefore = process.cpuUsage();
let cpuMs = 0;
let worker: Worker | null = null;
const startsMs: number[] = [];
/** Each once: what goes wrong a thousand times goes wrong in the same way. */
const faults = new Set<string>();

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(message: FromWorker): void {
  process.send?.(message);
}

function onTask(n: number): void {
  seen[n] = (seen[n] ?? 0) + 1;
  lastAtMs = nowMs();
  if (calls === untimed) firstAtMs = lastAtMs;
  calls += 1;
  events += 1;
  began[n] = events;
  if (order.tellsEach === true) tell({ type: "each", n, atMs: lastAtMs });
}

function onEnd(n: number): void {
  events += 1;
  ended[n] = events;
}

const timer = setInterval(() => {
  if (calls === told) return;
  told = calls;
  const { user, system } = process.cpuUsage(cpuBefore);
  cpuMs = (user + system) / 1_000;
  tell({ type: "calls", calls });
}, TELL_MS);

process.on("message", (message: ToWorker) => {
  void (message.type === "start" ? start() : stop());
});

async function start(): Promise<void> {
  delay.enable();
  cpuBefore = process.cpuUsage();
  worker = await CONTESTANTS[order.contestant].work({
    url: order.url,
    concurrency: order.concurrency,
    tasks: order.tasks,
    restMs: order.restMs ?? 0,
    onTask,
    onEnd,
    onStarted: (ms) => void startsMs.push(ms),
    onFault: (what) => void faults.add(what),
  });
  // What loading its modules took is not what its work takes.
  delay.reset();
}

function textOf({ buffer }: Uint8Array | Int32Array): string {
  return Buffer.from(buffer).toString("base64");
}

async function stop(): Promise<void> {
  delay.disable();
  await worker?.stop();
  clearInterval(timer);
  const report = {
    calls,
    firstAtMs,
    lastAtMs,
    seen: textOf(seen),
    began: textOf(began),
    ended: textOf(ended),
    cpuMs,
    longestBlockMs: delay.max / 1e6,
    startsMs,
    faults: [...faults],
  };
  const message: FromWorker = { type: "report", report };
  // A long one is still on its way when it was sent.
  process.send?.(message, () => process.disconnect());
}

// Whoever started it is gone, or has its report.
process.once("disconnect", () => process.exit());

tell({ type: "ready" });
