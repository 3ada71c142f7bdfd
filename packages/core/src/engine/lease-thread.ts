/**
 * The thread that renews the lease, on a connection of its own: neither a busy event loop nor a busy pool
 * loses what the instance runs. It must not hide a dead main loop for ever, so it stops when that has not
 * ticked for a long time.
 */

import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import type { InstanceId } from "../domain/ids.ts";
import { renewLease } from "../store/instances/renew.ts";
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
  | { readonly kind: "renewed" }
  | { readonly kind: "lost" }
  | { readonly kind: "failed"; readonly message: string };

/** A main loop that has not ticked for this long is taken for dead. */
const MAIN_LOOP_DEAD_MS = 120_000;

const data = workerData as LeaseThreadData;
const memory = openLeaseMemory(data.memory);
let client: pg.Client | null = null;
let lastTick = memory.ticks();
let lastTickAtMs = monotonicMs();

function tell(message: LeaseMessage): void {
  parentPort?.postMessage(message);
}

async function connected(): Promise<pg.Client> {
  if (client !== null) return client;
  // A beat that takes longer than a quarter of the lease is of no use: better to try again on a new connection.
  const timeoutMs = Math.max(data.beatMs, data.leaseMs / 4);
  const fresh = new pg.Client({
    connectionString: data.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    application_name: "signalbox lease",
  });
  fresh.on("error", () => {
    if (client === fresh) client = null;
  });
  await fresh.connect();
  client = fresh;
  return fresh;
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
  try {
    const db = await connected();
    // Taken before sending: the database evaluates later, so its expiry is never before the one we reckon with.
    const sentAtMs = monotonicMs();
    const { text, values } = renewLease(data.instanceId, data.leaseMs);
    const { rowCount } = await db.query({ text, values });
    if (rowCount === 1) memory.renewed(sentAtMs);
    tell({ kind: rowCount === 1 ? "renewed" : "lost" });
  } catch (error) {
    // After a timeout the connection is still busy with what we gave up on: throw it away.
    const broken = client;
    client = null;
    broken?.end().catch(() => {});
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
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
