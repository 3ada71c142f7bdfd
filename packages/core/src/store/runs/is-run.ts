import type { RunId } from "../../domain/ids.ts";
import type { Database, Transaction } from "../database.ts";
import { sql } from "../sql.ts";

export async function isRun(db: Database, runId: RunId): Promise<boolean> {
  return (await db.query(sql("isRun")`SELECT FROM signalbox.run WHERE id = ${runId}`)).length > 0;
}

/** The same, and until the commit nobody deletes it. */
export async function holdRun(tx: Transaction, runId: RunId): Promise<boolean> {
  return (
    (await tx.query(sql("holdRun")`SELECT FROM signalbox.run WHERE id = ${runId} FOR KEY SHARE`)).length > 0
  );
}
