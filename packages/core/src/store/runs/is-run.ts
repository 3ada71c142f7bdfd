import type { RunId } from "../../domain/ids.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

export async function isRun(db: Database, runId: RunId): Promise<boolean> {
  return (
    (await db.query(sql("isRun")`SELECT FROM signalbox.run WHERE id = ${runId} FOR KEY SHARE`)).length > 0
  );
}
