import type { WakeKey } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** Takes a transaction on purpose: a wake must commit with what opened the gate, or it is lost or too early. */
export async function wakeGates(tx: Transaction, keys: Iterable<WakeKey>): Promise<void> {
  const distinct = [...new Set(keys)];
  if (distinct.length === 0) return;
  await tx.query(
    sql(
      "wakeGates",
    )`INSERT INTO signalbox.gate_wake (key) SELECT key FROM unnest(${distinct}::text[]) AS g (key)`,
  );
}

/** Oldest first, under the gate lock: what is read in a later statement is at least as new as the wake. */
export async function takeWakes(tx: Transaction, limit: number): Promise<readonly string[]> {
  const rows = await tx.query(
    sql<{ key: string }>("takeWakes")`
      DELETE FROM signalbox.gate_wake
       WHERE id = ANY (ARRAY(SELECT id FROM signalbox.gate_wake ORDER BY id LIMIT ${limit}))
      RETURNING key
    `,
  );
  return rows.map(({ key }) => key);
}
