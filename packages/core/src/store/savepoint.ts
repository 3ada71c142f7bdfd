import { isRefusedRow, type Transaction } from "./database.ts";
import { sql } from "./sql.ts";

/** What was tried inside a transaction that goes on in any case: it is done, or the server refused one of its rows. */
export type Tried<Answer> =
  | { readonly kind: "done"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly error: Error };

/** A refusal takes back what was tried and nothing before it; anything else that goes wrong is thrown, as everywhere. */
export async function tryInside<Answer>(
  tx: Transaction,
  work: () => Promise<Answer>,
): Promise<Tried<Answer>> {
  await tx.query(sql("setSavepoint")`SAVEPOINT tried`);
  try {
    const answer = await work();
    await tx.query(sql("releaseSavepoint")`RELEASE SAVEPOINT tried`);
    return { kind: "done", answer };
  } catch (error) {
    if (!isRefusedRow(error) || !(error instanceof Error)) throw error;
    await tx.query(sql("backToSavepoint")`ROLLBACK TO SAVEPOINT tried`);
    return { kind: "refused", error };
  }
}
