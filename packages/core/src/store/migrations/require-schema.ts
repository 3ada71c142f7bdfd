import { SchedulerError } from "../../domain/errors.ts";
import type { Database } from "../database.ts";
import { readAppliedSteps } from "./applied-steps.ts";
import { readMigrations } from "./read-migrations.ts";

/** An instance refuses to join a schema it was not written for: both directions lose data silently. */
export async function requireSchema(db: Database): Promise<void> {
  const newest = readMigrations().at(-1);
  if (newest === undefined) return;
  const applied = await readAppliedSteps(db);
  const found = Math.max(0, ...applied.map(({ number }) => number));
  if (found > newest.number) throw new SchedulerError("SCHEMA_TOO_NEW", { found, known: newest.number });
  const complete = applied.filter(({ number }) => number === newest.number).length === newest.steps.length;
  if (!complete) throw new SchedulerError("SCHEMA_NOT_CURRENT", { found, needed: newest.number });
}
