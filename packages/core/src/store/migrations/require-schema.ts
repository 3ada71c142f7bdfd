import { SchedulerError } from "../../domain/errors.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";
import { readMigrations } from "./read-migrations.ts";

/** An instance refuses to join a schema it was not written for: both directions lose data silently. */
export async function requireSchema(db: Database): Promise<void> {
  const newest = readMigrations().at(-1);
  if (newest === undefined) return;
  const [there] = await db.query(
    sql<{ found: boolean }>(
      "migrationTableThere",
    )`SELECT to_regclass('signalbox.migration') IS NOT NULL AS found`,
  );
  const applied = there?.found === true ? await appliedSteps(db) : [];
  const found = Math.max(0, ...applied.map(({ number }) => number));
  if (found > newest.number) throw new SchedulerError("SCHEMA_TOO_NEW", { found, known: newest.number });
  const complete = applied.filter(({ number }) => number === newest.number).length === newest.steps.length;
  if (!complete) throw new SchedulerError("SCHEMA_NOT_CURRENT", { found, needed: newest.number });
}

async function appliedSteps(db: Database): Promise<readonly { readonly number: number }[]> {
  return await db.query(
    sql<{ number: number }>("appliedMigrationSteps")`SELECT number FROM signalbox.migration`,
  );
}
