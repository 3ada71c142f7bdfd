/**
 * The thread that renews the lease, on a connection of its own: neither a busy event loop nor a busy pool
 * loses what the instance runs. It must not hide a dead main loop for ever, so it stops when that has not
 * ticked for a long time. One thread serves all lives of an instance, one after the other.
 */

import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { line } from "../executors/process/warden-messages.ts";
import { openPool } from "../store/database.ts";
import { type Renewed, renewOnce } from "../store/instances/renew.ts";
import { type LeaseMemory, openLeaseMemory } from "./lease-memory.ts";
import { type WatchRequest, watchOverdue } from "./overdue-watch.ts";

export interface LeaseThreadData {
  readonly url: string;
  readonly leaseMs: number;
  readonly beatMs: number;
}

/** Whose lease it renews from now on. Null: nobody's. */
export type LeaseOrder = { readonly instanceId: InstanceId; readonly memory: SharedArrayBuffer } | null;

export type LeaseMessage = { readonly instanceId: InstanceId } & (
  | {
      readonly kind: "renewed";
      readonly state: Renewed["state"];
      readonly timeline: number;
      readonly tookMs: number;
    }
  | { readonly kind: "lost"; readonly timeline: number }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | null }
  /** What is overdue could not be settled here. */
  | { readonly kind: "overdue_failed"; readonly message: string; readonly code: string | null }
  /** It was settled here, because the main loop did not. */
  | { readonly kind: "overdue"; readonly taskRunId: TaskRunId }
);

/** The first word of a thread: whatever is ordered from now on is done at once. */
export interface ThreadRuns {
  readonly kind: "runs";
}

interface Life {
  readonly instanceId: InstanceId;
  readonly memory: LeaseMemory;
  lastTick: number;
  lastTickAtMs: number;
}

/** Where every good renewal is to be told as well: the warden must not depend on the main loop. */
export interface ReportRequest {
  readonly reportTo: string;
}

/** A main loop that has not ticked for this long is taken for dead. */
const MAIN_LOOP_DEAD_MS = 120_000;

const data = workerData as LeaseThreadData;
const pool = openPool({
  url: data.url,
  // One for the beats, and one for what is overdue: a settle may wait for a lock, a renewal must not.
  size: 2,
  // A beat that takes longer than a quarter of the lease is of no use: better to try again on a new connection.
  queryTimeoutMs: Math.max(data.beatMs, data.leaseMs / 4),
  applicationName: "signalbox lease",
  keepsIdle: true,
});
const overdue = watchOverdue(pool);
let life: Life | null = null;
let beatAtOnce: () => void = () => {};

parentPort?.on("message", (order: LeaseOrder | ReportRequest | WatchRequest) => {
  if (order !== null && "reportTo" in order) reportTo(order);
  else if (order !== null && ("watch" in order || "unwatch" in order)) overdue.take(order);
  else {
    life = order === null ? null : beginLife(order);
    overdue.forget();
    beatAtOnce();
  }
});

function beginLife({ instanceId, memory: buffer }: NonNullable<LeaseOrder>): Life {
  const memory = openLeaseMemory(buffer);
  return { instanceId, memory, lastTick: memory.ticks(), lastTickAtMs: monotonicMs() };
}

/** The wardens that are told of each beat: one that has lost its folder looks after its last processes beside the next. */
const reports = new Map<string, Socket | null>();
let newest = "";

function reportTo({ reportTo: path }: ReportRequest): void {
  newest = path;
  if (!reports.has(path)) connectTo(path);
}

function tellWardens(instanceId: InstanceId, renewedAtMs: number): void {
  for (const [path, connected] of reports) {
    const socket = connected ?? connectTo(path);
    // Waits until it is connected. A warden that does not read is dead; its end is noticed elsewhere.
    socket.write(line({ life: instanceId, leaseMs: data.leaseMs, renewedAtMs }));
  }
}

function connectTo(path: string): Socket {
  const socket = connect(path);
  const forget = (): void => {
    if (reports.get(path) !== socket) return;
    if (path === newest) reports.set(path, null);
    else reports.delete(path);
  };
  socket.on("error", forget).on("close", forget).resume();
  reports.set(path, socket);
  return socket;
}

function tell(message: LeaseMessage | ThreadRuns): void {
  parentPort?.postMessage(message);
}

function mainLoopLives(of: Life): boolean {
  const tick = of.memory.ticks();
  if (tick !== of.lastTick) {
    of.lastTick = tick;
    of.lastTickAtMs = monotonicMs();
  }
  return monotonicMs() - of.lastTickAtMs < MAIN_LOOP_DEAD_MS;
}

async function beat(of: Life): Promise<void> {
  if (!mainLoopLives(of)) return;
  const { instanceId } = of;
  let sentAtMs = monotonicMs();
  try {
    const renewed = await pool.transaction(async (tx) => {
      // Taken before sending: the database evaluates later, so its expiry is never before the one we reckon with.
      sentAtMs = monotonicMs();
      return await renewOnce(tx, instanceId, data.leaseMs);
    });
    if (renewed === null) return tell({ kind: "lost", instanceId, timeline: pool.newestTimeline() });
    of.memory.renewed(sentAtMs);
    tellWardens(instanceId, sentAtMs);
    tell({ kind: "renewed", instanceId, ...renewed, tookMs: monotonicMs() - sentAtMs });
  } catch (error) {
    tellFailed("failed", instanceId, error);
  }
}

function tellFailed(kind: "failed" | "overdue_failed", instanceId: InstanceId, error: unknown): void {
  const code = error instanceof Error && "code" in error ? String(error.code) : null;
  tell({ kind, instanceId, message: error instanceof Error ? error.message : String(error), code });
}

/** Beside the beats, so that a lock it waits for does not cost the lease. What fails is tried again with the next look. */
async function keepEndingOverdue(): Promise<void> {
  for (;;) {
    const instanceId = life?.instanceId;
    const { ended, failures } = await overdue.endOverdue();
    for (const each of ended) tell({ kind: "overdue", ...each });
    if (instanceId !== undefined)
      for (const error of failures) tellFailed("overdue_failed", instanceId, error);
    await wait(data.beatMs);
  }
}

async function keepBeating(): Promise<void> {
  for (;;) {
    const begunAtMs = monotonicMs();
    const current: Life | null = life;
    if (current !== null) await beat(current);
    // Another life began while this beat was under way: its first one is due.
    if (life === current) await rest(Math.max(0, data.beatMs - (monotonicMs() - begunAtMs)));
  }
}

async function rest(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    beatAtOnce = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

tell({ kind: "runs" });
await Promise.all([keepBeating(), keepEndingOverdue()]);
