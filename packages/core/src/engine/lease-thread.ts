/**
 * The thread that renews the lease, on a connection of its own: neither a busy event loop nor a busy pool
 * loses what the instance runs. It must not hide a dead main loop for ever, so it stops when that has not
 * ticked for a long time. One thread serves all lives of an instance, one after the other.
 */

import { parentPort, workerData } from "node:worker_threads";
import type { InstanceId } from "../domain/ids.ts";
import { openPool } from "../store/database.ts";
import { renewOnce } from "../store/instances/renew.ts";
import { type LeaseMemory, openLeaseMemory } from "./lease-memory.ts";
import { monotonicMs } from "./monotonic.ts";

export interface LeaseThreadData {
  readonly url: string;
  readonly leaseMs: number;
  readonly beatMs: number;
}

/** Whose lease it renews from now on. Null: nobody's. */
export type LeaseOrder = { readonly instanceId: InstanceId; readonly memory: SharedArrayBuffer } | null;

export type LeaseMessage = { readonly instanceId: InstanceId } & (
  | { readonly kind: "renewed"; readonly timeline: number; readonly tookMs: number }
  | { readonly kind: "lost"; readonly timeline: number }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | null }
);

interface Life {
  readonly instanceId: InstanceId;
  readonly memory: LeaseMemory;
  lastTick: number;
  lastTickAtMs: number;
}

/** A main loop that has not ticked for this long is taken for dead. */
const MAIN_LOOP_DEAD_MS = 120_000;

const data = workerData as LeaseThreadData;
const pool = openPool({
  url: data.url,
  size: 1,
  // A beat that takes longer than a quarter of the lease is of no use: better to try again on a new connection.
  queryTimeoutMs: Math.max(data.beatMs, data.leaseMs / 4),
  applicationName: "signalbox lease",
  keepsIdle: true,
});
let life: Life | null = null;
let beatAtOnce: () => void = () => {};

parentPort?.on("message", (order: LeaseOrder) => {
  life = order === null ? null : beginLife(order);
  beatAtOnce();
});

function beginLife({ instanceId, memory: buffer }: NonNullable<LeaseOrder>): Life {
  const memory = openLeaseMemory(buffer);
  return { instanceId, memory, lastTick: memory.ticks(), lastTickAtMs: monotonicMs() };
}

function tell(message: LeaseMessage): void {
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
    tell({ kind: "renewed", instanceId, timeline: renewed.timeline, tookMs: monotonicMs() - sentAtMs });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    tell({
      kind: "failed",
      instanceId,
      message: error instanceof Error ? error.message : String(error),
      code,
    });
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

await keepBeating();
