import type { WakeKey } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** Takes a transaction on purpose: a wake must commit with what opened the gate, or it is lost or too early. */
export async function wakeGates(tx: Transaction, keys: Iterable<WakeKey>): Promise<void> {
  const distinct = [...new Set(keys)];
  if (distinct.length === 0) return;
  await tx.query(
    preparedSql(
      "wakeGates",
    )`INSERT INTO signalbox.gate_wake (key) SELECT key FROM unnest(${distinct}::text[]) AS g (key)`,
  );
}

/** A wake that lies ahead. Each key has one; the earlier one counts. */
export async function wakeGatesAt(
  tx: Transaction,
  wakes: readonly { readonly key: WakeKey; readonly dueAt: Date }[],
): Promise<void> {
  const earliest = new Map<WakeKey, Date>();
  for (const { key, dueAt } of wakes) {
    const known = earliest.get(key);
    if (known === undefined || dueAt.getTime() < known.getTime()) earliest.set(key, dueAt);
  }
  if (earliest.size === 0) return;
  await tx.query(
    preparedSql("wakeGatesAt")`
      INSERT INTO signalbox.gate_wake AS w (key, due_at)
      SELECT key, due_at FROM unnest(${[...earliest.keys()]}::text[], ${[...earliest.values()]}::timestamptz[]) AS g (key, due_at)
          ON CONFLICT (key) WHERE due_at IS NOT NULL DO UPDATE SET due_at = least(w.due_at, excluded.due_at)
    `,
  );
}

/** Oldest first, under the gate lock: what is read in a later statement is at least as new as the wake. */
export async function takeWakes(tx: Transaction, limit: number): Promise<readonly string[]> {
  const rows = await tx.query(
    preparedSql<{ key: string }>("takeWakes")`
      DELETE FROM signalbox.gate_wake
       WHERE id = ANY (ARRAY(SELECT id
                               FROM signalbox.gate_wake
                              WHERE due_at IS NULL OR due_at <= clock_timestamp()
                              ORDER BY id
                              LIMIT ${limit}))
      RETURNING key
    `,
  );
  return rows.map(({ key }) => key);
}
