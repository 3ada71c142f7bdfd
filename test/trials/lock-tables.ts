/** Somebody locks a table for longer than a lease. */

import { expect } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import type { Rig, RigOptions } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { takeLock } from "../ha/take-lock.ts";
import { until } from "../ha/until.ts";
import { settledMore } from "./settled-more.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

/** What a statement says that waited for too long, and the driver when the server says nothing. */
function waitedTooLong({ code, message }: ToldError): boolean {
  return ["55P03", "57014", "25P03"].includes(code ?? "") || /timeout/i.test(message);
}

/** Statements give up before the lock does. */
export function patientFor(leaseMs: number): RigOptions {
  const settings = { leaseMs, queryTimeoutMs: leaseMs };
  return { instance: { settings }, tolerates: waitedTooLong, laterMs: 3 * leaseMs };
}

export async function lockTables(
  rig: Rig,
  { tables, forMs }: { readonly tables: readonly string[]; readonly forMs: number },
): Promise<Shown> {
  const { cluster } = rig;
  const fencedBefore = cluster.count("instance.fenced");
  const failedBefore = cluster.count("loop.failed");
  for (const table of tables) {
    await settledMore(rig, 5);
    const lock = await takeLock(rig, `LOCK TABLE signalbox.${table} IN ACCESS EXCLUSIVE MODE`);
    const untilMs = performance.now() + forMs;
    await until("the lock is held for long enough", () => performance.now() > untilMs, {
      withinMs: WITHIN_MS,
    });
    await lock.release();
  }
  await settledMore(rig, 5);
  const paths = { "failed passes": cluster.count("loop.failed") - failedBefore };

  expect(cluster.count("instance.fenced") - fencedBefore).toBe(0);
  requireTaken(paths);
  return { faults: { "tables locked for a lease and a half": tables.length }, paths };
}
