import { wakeConcurrencyKey, wakeRate } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

/** Of one key, or of every key of a group ("customer:*"). Whoever is above a lowered limit already stays. */
export async function changeKeyLimit(tx: Transaction, key: string, limit: number): Promise<void> {
  await takeGateLock(tx);
  await tx.query(
    sql("changeKeyLimit")`
      WITH before AS (
        SELECT slot_limit FROM signalbox.key_limit WHERE concurrency_key = ${key}
      ), changed AS (
        INSERT INTO signalbox.key_limit AS k (concurrency_key, slot_limit) VALUES (${key}, ${limit})
            ON CONFLICT (concurrency_key) DO UPDATE SET slot_limit = excluded.slot_limit, row_version = k.row_version + 1
        RETURNING row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'key', md5('key:' || ${key})::uuid, row_version, 'key.limit_changed',
             jsonb_build_object('key', ${key}::text, 'from', (SELECT slot_limit FROM before), 'to', ${limit}::integer)
        FROM changed
    `,
  );
  await wakeGates(tx, (await keysParked(tx, key)).map(wakeConcurrencyKey));
}

/**
 * Nobody is promoted meanwhile, so it must not read all that wait. It looks at each key once, also at those of other groups:
 * which keys follow each other is up to the collation, so a prefix is no range of the index. Only a change of a rule does it.
 */
async function keysParked(tx: Transaction, key: string): Promise<readonly string[]> {
  if (!key.endsWith(":*")) return [key];
  const rows = await tx.query(
    sql<{ key: string }>("keysParked")`
      WITH RECURSIVE parked (key) AS (        -- from one key to the next, each by one look at the index
        (SELECT blocked_key FROM signalbox.waiting
          WHERE blocked_on = 'KEY_LIMIT' AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
          ORDER BY blocked_key
          LIMIT 1)
        UNION ALL
        SELECT next.blocked_key
          FROM parked
         CROSS JOIN LATERAL (
               SELECT blocked_key FROM signalbox.waiting
                WHERE blocked_on = 'KEY_LIMIT' AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
                  AND blocked_key > parked.key
                ORDER BY blocked_key
                LIMIT 1) AS next
      )
      SELECT key FROM parked WHERE starts_with(key, ${key.slice(0, -1)})
    `,
  );
  return rows.map((row) => row.key);
}

export async function changeRate(
  tx: Transaction,
  name: string,
  rate: { readonly amount: number; readonly perMs: number },
): Promise<void> {
  await takeGateLock(tx);
  await tx.query(
    sql("changeRate")`
      WITH changed AS (
        INSERT INTO signalbox.rate AS r (name, amount, per_ms) VALUES (${name}, ${rate.amount}, ${rate.perMs})
            ON CONFLICT (name) DO UPDATE
           SET amount = excluded.amount, per_ms = excluded.per_ms, row_version = r.row_version + 1
        RETURNING row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'rate', md5('rate:' || ${name})::uuid, row_version, 'rate.changed',
             jsonb_build_object('rate', ${name}::text, 'amount', ${rate.amount}::integer, 'perMs', ${rate.perMs}::bigint)
        FROM changed
    `,
  );
  await wakeGates(tx, [wakeRate(name)]);
}
