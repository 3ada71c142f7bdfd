import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

export interface AppliedStep {
  readonly number: number;
  readonly step: number;
  readonly name: string;
  readonly checksum: string;
  readonly appliedAt: Date;
}

/** Empty where nothing was ever applied. */
export async function readAppliedSteps(db: Database): Promise<readonly AppliedStep[]> {
  const [there] = await db.query(
    sql<{ found: boolean }>(
      "migrationTableThere",
    )`SELECT to_regclass('signalbox.migration') IS NOT NULL AS found`,
  );
  if (there?.found !== true) return [];
  return await db.query(
    sql<AppliedStep>("appliedMigrationSteps")`
      SELECT number, step, name, checksum, applied_at AS "appliedAt"
        FROM signalbox.migration
       ORDER BY number, step`,
  );
}
