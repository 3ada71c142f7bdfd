/** Looks on from a connection of its own while faults happen: what must hold at any time holds at these times too. */

import { setTimeout as wait } from "node:timers/promises";
import type { InvariantReport, Scheduler } from "@signalbox/core";
import type pg from "pg";
import type { Pool } from "../../packages/core/src/store/database.ts";
import { checkInvariants } from "../../packages/core/src/store/invariants/check.ts";
import type { Cluster } from "./cluster.ts";
import { HoldingWatch, type RunningRow } from "./holding-watch.ts";
import { INSTANCE_SETTINGS } from "./instance-messages.ts";
import { OpenGateWatch, type Waiter } from "./open-gate-watch.ts";
import { isOutage } from "./outage.ts";
import { slowness } from "./slowness.ts";

export interface Watch {
  /** How often everything was looked at; looks that met no database do not count. */
  readonly looks: number;
  /** How many RUNNING rows were compared with what their owner holds. */
  readonly compared: number;
  /** How often a look found somebody waiting at each gate. */
  readonly waited: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  stop(): Promise<void>;
}

const { beatMs, graceMs } = INSTANCE_SETTINGS;
const LOOK_EVERY_MS = 1_000;
/** How far back a look goes; the whole history is checked at the end. */
const LOOK_BACK_MS = 120_000;
/** Where somebody of the load must have waited. */
const WATCHED_GATES = [
  "RUN_AT",
  "VERSION_ORDER",
  "RUN_LIMIT",
  "RESOURCE_BUSY",
  "QUEUE_LIMIT",
  "KEY_LIMIT",
  "RATE_LIMIT",
  "PAUSED",
  "WINDOW",
  "STOPPED",
];
/** Frozen transactions hold others up for five seconds, PostgreSQL is away for less. */
const FORGOTTEN_AFTER_MS = 8_000;
/** Who has waited for less cannot be forgotten for that long. */
const WAITS_FOR_MS = 3_000;
/** Twice a beat, so that none is missed. */
const COMPARE_EVERY_MS = 250;

export function startWatch(deps: {
  readonly db: pg.Pool;
  readonly pool: Pool;
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  /** Looks that may fail beside those that met no database. */
  readonly tolerates: (error: unknown) => boolean;
  readonly laterMs: number;
}): Watch {
  const holding = new HoldingWatch(slowness);
  const openGates = new OpenGateWatch(FORGOTTEN_AFTER_MS + deps.laterMs, slowness);
  const violations = new Set<string>();
  const waited: Record<string, number> = Object.fromEntries(WATCHED_GATES.map((gate) => [gate, 0]));
  let looks = 0;
  let stopping = false;

  const every = async (ms: number, look: () => Promise<void>): Promise<void> => {
    while (!stopping) {
      await look().catch((error: unknown) => {
        if (!isOutage(error) && !deps.tolerates(error)) violations.add(`A look failed: ${String(error)}`);
      });
      await wait(ms);
    }
  };
  const going = Promise.all([
    every(LOOK_EVERY_MS, async () => {
      const since = new Date(Date.now() - LOOK_BACK_MS);
      // As `checkInvariants` of a scheduler has it, on a machine that is as busy as this one.
      const rescueWithinMs = (graceMs + 10 * beatMs + deps.laterMs) * slowness();
      const report = await deps.pool.snapshot(
        async (tx) => await checkInvariants(tx, { since, rescueWithinMs }),
      );
      looks += 1;
      for (const violation of describeReport(report)) violations.add(violation);
      openGates.observe(await readWaiters(deps.db, deps.scheduler), performance.now());
    }),
    every(COMPARE_EVERY_MS, async () => {
      const lists = await Promise.all(deps.cluster.running.map(async (instance) => await instance.list()));
      holding.observe({
        running: await readRunning(deps.db),
        holding: new Map(
          lists.flatMap((list) => (list?.instanceId ? [[list.instanceId, list.claims] as const] : [])),
        ),
      });
      for (const gate of await readGates(deps.db)) waited[gate] = (waited[gate] ?? 0) + 1;
    }),
  ]);

  return {
    get looks() {
      return looks;
    },
    get compared() {
      return holding.compared;
    },
    waited,
    get violations() {
      return [...violations, ...holding.violations, ...openGates.violations];
    },
    stop: async () => {
      stopping = true;
      await going;
    },
  };
}

/** What was not checked is as bad as what was found: nobody knows. */
export function describeReport({ violations, notChecked }: InvariantReport): readonly string[] {
  return [
    ...violations.map(({ property, detail }) => `${property}: ${detail}`),
    ...notChecked.map((what) => `not checked: ${what}`),
  ];
}

async function readRunning(db: pg.Pool): Promise<readonly RunningRow[]> {
  const { rows } = await db.query<Omit<RunningRow, "claimNo"> & { claimNo: string }>(`
    SELECT t.id AS "taskRunId", t.claim_no AS "claimNo", i.boot_id AS "instanceId", i.beat_at::text AS "beatAt"
      FROM signalbox.task_run AS t JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
     WHERE t.status = 'RUNNING' AND i.state = 'LIVE' AND i.expires_at > clock_timestamp()`);
  return rows.map((row) => ({ ...row, claimNo: Number(row.claimNo) }));
}

async function readGates(db: pg.Pool): Promise<readonly string[]> {
  const { rows } = await db.query<{ gate: string }>(
    "SELECT DISTINCT blocked_on AS gate FROM signalbox.waiting WHERE blocked_on IS NOT NULL",
  );
  return rows.map(({ gate }) => gate);
}

/** Those who have waited the longest. */
async function readWaiters(db: pg.Pool, scheduler: Scheduler): Promise<readonly Waiter[]> {
  const { rows } = await db.query<{ taskRunId: string }>(
    `SELECT task_run_id AS "taskRunId" FROM signalbox.waiting
      WHERE enqueued_at < clock_timestamp() - $1 * interval '1 ms' ORDER BY enqueued_at LIMIT 20`,
    [WAITS_FOR_MS],
  );
  const waiters: Waiter[] = [];
  for (const { taskRunId } of rows) {
    const { status, gates } = await scheduler.explain(taskRunId);
    const blocked = status !== "PENDING" || gates.some(({ state }) => state === "blocking");
    waiters.push({ taskRunId, blocked });
  }
  return waiters;
}
