import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** What is known of a key: nothing so far, or what the first call with it was and got. */
export type KnownKey<Answer> =
  | { readonly kind: "new" }
  | { readonly kind: "known"; readonly sameRequest: boolean; readonly answer: Answer };

/**
 * The first statement of an enqueue with a key. Of two at once one inserts; the other waits here for its commit, and is
 * the first itself where that one is rolled back. The unique index decides, so it may be the caller's own transaction.
 */
export async function takeKey<Answer>(
  tx: Transaction,
  key: string,
  requestHash: Uint8Array,
): Promise<KnownKey<Answer>> {
  for (;;) {
    const inserted = await tx.query(
      sql("takeKey")`
        INSERT INTO signalbox.idempotency_key (key, request_hash)
        VALUES (${key}, ${requestHash})
            ON CONFLICT (project, key) DO NOTHING
        RETURNING key
      `,
    );
    if (inserted.length > 0) return { kind: "new" };
    // In a statement of its own: only this one sees what was committed while the first waited.
    const [row] = await tx.query(
      sql<{ sameRequest: boolean; answer: Answer | null }>("readKey")`
        SELECT request_hash = ${requestHash} AS "sameRequest", answer
          FROM signalbox.idempotency_key
         WHERE project = 'default' AND key = ${key}
      `,
    );
    // Gone in between: it was pruned, so the key is new again.
    if (row === undefined) continue;
    if (row.answer === null) throw new Error("An idempotency key was committed without its answer");
    return { kind: "known", sameRequest: row.sameRequest, answer: row.answer };
  }
}

export async function rememberAnswer(tx: Transaction, key: string, answer: unknown): Promise<void> {
  await tx.query(
    sql("rememberAnswer")`
      UPDATE signalbox.idempotency_key
         SET answer = ${JSON.stringify(answer)}::jsonb
       WHERE project = 'default' AND key = ${key}
    `,
  );
}

/** Oldest first. Answers how many are gone. */
export async function forgetKeys(tx: Transaction, keepMs: number, limit: number): Promise<number> {
  const gone = await tx.query(
    sql("forgetKeys")`
      DELETE FROM signalbox.idempotency_key
       WHERE ctid = ANY (ARRAY(
               SELECT ctid
                 FROM signalbox.idempotency_key
                -- Asked for once: the index cannot be searched by a clock that goes on.
                WHERE created_at < (SELECT clock_timestamp() - ${keepMs}::float8 * interval '1 ms')
                ORDER BY created_at
                LIMIT ${limit}))
      RETURNING key
    `,
  );
  return gone.length;
}
