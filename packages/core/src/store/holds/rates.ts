/**
 * Rates are slots too: ten a second is ten slots. A slot is taken by a promotion and free again one period after that
 * task run was claimed, so that starts are counted and not promotions, without a write at the claim.
 */

import type { Promotion } from "../../domain/admission.ts";
import type { TaskRunId } from "../../domain/ids.ts";
import type { RateSnapshot } from "../../domain/promotion-snapshot.ts";
import { type WakeKey, wakeRate } from "../../domain/wake.ts";
import type { Database, Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** No start counts for longer; the CHECK of `rate` says the same. */
export const LONGEST_PERIOD_MS = 86_400_000;

export async function loadRates(
  db: Database,
  names: readonly string[],
  wanted: number,
): Promise<ReadonlyMap<string, RateSnapshot & { readonly taken: number }>> {
  if (names.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<{
      name: string;
      amount: number;
      perMs: string;
      taken: number;
      freeSlots: readonly number[];
      nextFreeAt: Date | null;
    }>("loadRates")`
      SELECT r.name, r.amount, r.per_ms AS "perMs", use."nextFreeAt", cardinality(use.taken) AS taken,
             ARRAY(SELECT slot
                     FROM generate_series(0, r.amount - 1) AS slot
                    WHERE NOT slot = ANY (use.taken)
                    ORDER BY slot
                    -- Slots above an amount that was lowered count until they are free.
                    LIMIT least(${wanted}, greatest(0, r.amount - cardinality(use.taken)))) AS "freeSlots"
        FROM signalbox.rate AS r
       CROSS JOIN LATERAL (
             SELECT coalesce(array_agg(s.slot), '{}') AS taken,
                    -- After a lowered amount more than one must become old before there is room for one.
                    (array_agg(start.at ORDER BY start.at))[greatest(1, count(*) - r.amount + 1)]
                    + r.per_ms * interval '1 ms' AS "nextFreeAt"
               FROM signalbox.rate_slot AS s
               JOIN signalbox.task_run AS t ON t.id = s.task_run_id
              CROSS JOIN LATERAL (SELECT coalesce(s.started_at, t.claimed_at) AS at) AS start
              WHERE s.rate = r.name
                -- Promoted and not started, or started within the period. Who went back or ended unstarted took nothing.
                AND ((t.status = 'AVAILABLE' AND s.started_at IS NULL)
                     OR start.at > clock_timestamp() - r.per_ms * interval '1 ms')) AS use
       WHERE r.name = ANY (${names}::text[])
    `,
  );
  return new Map(rows.map(({ name, perMs, ...rate }) => [name, { ...rate, perMs: Number(perMs) }]));
}

export async function takeRateSlots(tx: Transaction, promotions: readonly Promotion[]): Promise<void> {
  const taken = promotions.flatMap(({ taskRunId, rateSlot }) =>
    rateSlot === null ? [] : [{ taskRunId, ...rateSlot }],
  );
  if (taken.length === 0) return;
  // One that went back to PENDING may have had another slot: it must not count twice.
  const leaving = tx.query(
    preparedSql("leaveRateSlots")`
      DELETE FROM signalbox.rate_slot
       WHERE rate = ANY (${taken.map(({ rate }) => rate)}::text[])
         AND task_run_id = ANY (${taken.map(({ taskRunId }) => taskRunId)}::uuid[])
         AND started_at IS NULL
    `,
  );
  const taking = tx.query(
    preparedSql("takeRateSlots")`
      INSERT INTO signalbox.rate_slot (rate, slot, task_run_id)
      SELECT rate, slot, task_run_id
        FROM unnest(${taken.map(({ rate }) => rate)}::text[],
                    ${taken.map(({ slot }) => slot)}::integer[],
                    ${taken.map(({ taskRunId }) => taskRunId)}::uuid[]) AS g (rate, slot, task_run_id)
       ORDER BY rate, slot                -- like a deferral: no deadlock
          ON CONFLICT (rate, slot) DO UPDATE SET task_run_id = excluded.task_run_id, started_at = NULL
    `,
  );
  await Promise.all([leaving, taking]);
}

/** The rates whose slots are free again since these went without a start: canceled, handed back or demoted. */
export async function ratesFreedBy(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
): Promise<readonly WakeKey[]> {
  if (taskRunIds.length === 0) return [];
  const rows = await tx.query(
    preparedSql<{ rate: string }>("ratesFreedBy")`
      SELECT DISTINCT k.rate
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.id = ANY (${taskRunIds}::uuid[]) AND k.rate IS NOT NULL
    `,
  );
  return rows.map(({ rate }) => wakeRate(rate));
}
