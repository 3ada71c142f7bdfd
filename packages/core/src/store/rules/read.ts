/** All rules as callers read them. In a snapshot: together they must be what held at one moment. */

import { asRunId, asTaskId } from "../../domain/ids.ts";
import type {
  KeyLimitRule,
  PauseRule,
  QueueRule,
  RateRule,
  Reservation,
  RuleList,
  RulesInForce,
  StopRule,
  WindowRule,
} from "../../domain/rules-in-force.ts";
import { type Pausable, partsOf, type Windowed } from "../../domain/scope.ts";
import type { Window } from "../../domain/window.ts";
import { asGiven } from "../../domain/window-spec.ts";
import type { Transaction } from "../database.ts";
import { loadRates } from "../holds/rates.ts";
import { sql } from "../sql.ts";
import { readClock } from "../task-runs/explain.ts";
import { judgeStored } from "./load.ts";

/** Each list has up to `limit` rules. */
export async function readRules(tx: Transaction, limit: number): Promise<RulesInForce> {
  // One more of each, to know whether there are more.
  const wanted = limit + 1;
  const computedAt = await readClock(tx);
  const lists: Omit<RulesInForce, "computedAt" | "cut"> = {
    queues: await readQueues(tx, wanted),
    keyLimits: await readKeyLimits(tx, wanted),
    rates: await readRates(tx, wanted),
    pauses: await readPauses(tx, wanted),
    windows: await readWindows(tx, wanted, computedAt),
    stops: await readStops(tx, wanted),
    reservations: await readReservations(tx, wanted),
  };
  const names = Object.keys(lists) as RuleList[];
  const kept = Object.fromEntries(names.map((name) => [name, lists[name].slice(0, limit)]));
  return { ...lists, ...kept, computedAt, cut: names.filter((name) => lists[name].length > limit) };
}

/** A pause or a window leaves a row of its queue behind that says nothing. */
async function readQueues(tx: Transaction, wanted: number): Promise<readonly QueueRule[]> {
  return await tx.query(
    sql<QueueRule>("readQueues")`
      SELECT name AS queue, slot_limit AS "limit", weight,
             (SELECT at FROM signalbox.event_store WHERE aggregate_id = md5('queue:' || name)::uuid
               ORDER BY aggregate_version DESC LIMIT 1) AS since
        FROM signalbox.queue
       WHERE slot_limit > 0 OR weight <> 1
       ORDER BY name
       LIMIT ${wanted}
    `,
  );
}

async function readKeyLimits(tx: Transaction, wanted: number): Promise<readonly KeyLimitRule[]> {
  return await tx.query(
    sql<KeyLimitRule>("readKeyLimits")`
      SELECT concurrency_key AS "concurrencyKey", slot_limit AS "limit",
             (SELECT at FROM signalbox.event_store WHERE aggregate_id = md5('key:' || concurrency_key)::uuid
               ORDER BY aggregate_version DESC LIMIT 1) AS since
        FROM signalbox.key_limit
       ORDER BY concurrency_key
       LIMIT ${wanted}
    `,
  );
}

/** Whether a slot is free is known by the task run that took it. So many are looked at, not more. */
const SLOTS_COUNTED = 100_000;

async function readRates(tx: Transaction, wanted: number): Promise<readonly RateRule[]> {
  const rows = await tx.query(
    sql<Omit<RateRule, "perMs" | "free"> & { perMs: string }>("readRates")`
      SELECT name AS rate, amount, per_ms AS "perMs",
             (SELECT at FROM signalbox.event_store WHERE aggregate_id = md5('rate:' || name)::uuid
               ORDER BY aggregate_version DESC LIMIT 1) AS since
        FROM signalbox.rate
       ORDER BY name
       LIMIT ${wanted}
    `,
  );
  const uses = await loadRates(tx, ratesToCount(rows), 0);
  return rows.map((row) => {
    const taken = uses.get(row.rate)?.taken;
    const free = taken === undefined ? null : Math.max(0, row.amount - taken);
    return { ...row, perMs: Number(row.perMs), free };
  });
}

function ratesToCount(rates: readonly Pick<RateRule, "rate" | "amount">[]): readonly string[] {
  let slots = 0;
  const counted = rates.filter(({ amount }) => {
    slots += amount;
    return slots <= SLOTS_COUNTED;
  });
  return counted.map(({ rate }) => rate);
}

async function readPauses(tx: Transaction, wanted: number): Promise<readonly PauseRule[]> {
  const rows = await tx.query(
    sql<Omit<PauseRule, "what"> & { over: "queue" | "run" | "resource"; name: string }>("readPauses")`
      SELECT over, name, changed_by AS "by", reason, since
        FROM signalbox.pause
       WHERE paused
       ORDER BY over, name
       LIMIT ${wanted}
    `,
  );
  return rows.map(({ over, name, ...pause }) => ({ what: toPausable(over, name), ...pause }));
}

function toPausable(over: "queue" | "run" | "resource", name: string): Pausable {
  return over === "run" ? { runId: asRunId(name) } : toWindowed(over, name);
}

function toWindowed(over: "queue" | "resource", name: string): Windowed {
  return over === "queue" ? { queue: name } : { resource: name };
}

async function readWindows(tx: Transaction, wanted: number, now: Date): Promise<readonly WindowRule[]> {
  const rows = await tx.query(
    sql<{
      over: "queue" | "resource";
      name: string;
      windows: readonly Window[];
      since: Date | null;
    }>("readWindows")`
      SELECT over, name, windows,
             (SELECT at FROM signalbox.event_store WHERE aggregate_id = md5('window:' || over || ':' || name)::uuid
               ORDER BY aggregate_version DESC LIMIT 1) AS since
        FROM signalbox.start_window
       WHERE windows <> '[]'::jsonb
       ORDER BY over, name
       LIMIT ${wanted}
    `,
  );
  return rows.map(({ over, name, windows, since }) => ({
    what: toWindowed(over, name),
    windows: windows.map(asGiven),
    now: judgeStored(windows, now),
    since,
  }));
}

/** There may be one for each of many tasks, so the newest come first. */
async function readStops(tx: Transaction, wanted: number): Promise<readonly StopRule[]> {
  const rows = await tx.query(
    sql<Omit<StopRule, "taskId"> & { taskId: string }>("readStops")`
      SELECT task_id AS "taskId", code, detail, since
        FROM signalbox.stop
       ORDER BY task_id DESC, code
       LIMIT ${wanted}
    `,
  );
  return rows.map(({ taskId, ...stop }) => ({ taskId: asTaskId(taskId), ...stop }));
}

async function readReservations(tx: Transaction, wanted: number): Promise<readonly Reservation[]> {
  const rows = await tx.query(
    sql<{ scope: `resource:${string}`; taskId: string }>("readReservations")`
      SELECT scope, reserved_for AS "taskId"
        FROM signalbox.hold
       WHERE reserved_for IS NOT NULL
       ORDER BY reserved_for, scope
       LIMIT ${wanted}
    `,
  );
  return rows.map(({ scope, taskId }) => ({ resource: partsOf(scope).name, taskId: asTaskId(taskId) }));
}
