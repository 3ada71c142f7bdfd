/**
 * The thread that renews the lease, on a connection of its own: neither a busy event loop nor a busy pool
 * loses what the instance runs. It must not hide a dead main loop for ever, so it stops when that has not
 * ticked for a long time.
 */

import { parentPort, workerData } from "node:worker_threads";
import type { InstanceId } from "../domain/ids.ts";
import { openPool } from "../store/database.ts";
import { renewOnce } from "../store/instances/renew.ts";
import { openLeaseMemory } from "./lease-memory.ts";
import { monotonicMs } from "./monotonic.ts";

export interface LeaseThreadData {
  readonly url: string;
  readonly instanceId: InstanceId;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly memory: SharedArrayBuffer;
}

export type LeaseMessage =
  | { readonly kind: "renewed"; readonly timeline: number; readonly tookMs: number }
  | { readonly kind: "lost"; readonly timeline: number }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | null };

/** A main loop that has not ticked for this long is taken for dead. */
const MAIN_LOOP_DEAD_MS = 120_000;

const data = workerData as LeaseThreadData;
const memory = openLeaseMemory(data.memory);
const pool = openPool({
  url: data.url,
  size: 1,
  // A beat that takes longer than a quarter of the lease is of no use: better to try again on a new connection.
  queryTimeoutMs: Math.max(data.beatMs, data.leaseMs / 4),
  applicationName: "signalbox lease",
  keepsIdle: true,
});
let lastTick = memory.ticks();
let lastTickAtMs = monotonicMs();

function tell(message: LeaseMessage): void {
  parentPort?.postMessage(message);
}

function mainLoopLives(): boolean {
  const tick = memory.ticks();
  if (tick !== lastTick) {
    lastTick = tick;
    lastTickAtMs = monotonicMs();
  }
  return monotonicMs() - lastTickAtMs < MAIN_LOOP_DEAD_MS;
}

async function beat(): Promise<void> {
  if (!mainLoopLives()) return;
  let sentAtMs = monotonicMs();
  try {
    const renewed = await pool.transaction(async (tx) => {
      // Taken before sending: the database evaluates later, so its expiry is never before the one we reckon with.
      sentAtMs = monotonicMs();
      return await renewOnce(tx, data.instanceId, data.leaseMs);
    });
    if (renewed === null) return tell({ kind: "lost", timeline: pool.newestTimeline() });
    memory.renewed(sentAtMs);
    tell({ kind: "renewed", timeline: renewed.timeline, tookMs: monotonicMs() - sentAtMs });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error), code });
  }
}

async function keepBeating(): Promise<void> {
  for (;;) {
    const begunAtMs = monotonicMs();
    await beat();
    const restMs = Math.max(0, data.beatMs - (monotonicMs() - begunAtMs));
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

await keepBeating();
