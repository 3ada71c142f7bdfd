/** What the schema has, what it lacks, and bringing it up to date. */

import { createScheduler, type MigrationReport, type Scheduler, SchedulerError } from "@signalbox/core";
import { readConfig } from "../../config.ts";
import { renderTable } from "../../render/table.ts";
import { requireDatabaseUrl } from "../database-url.ts";
import type { Output } from "../output.ts";

export interface MigrateOptions {
  readonly databaseUrl?: string;
  readonly json?: true;
}

export interface MigratePlanOptions extends MigrateOptions {
  readonly sql?: true;
}

export async function migrateStatus(options: MigrateOptions, output: Output): Promise<void> {
  const migrations = await withScheduler(options, async (scheduler) => await scheduler.migrations());
  if (options.json) return output.data(JSON.stringify(migrations.map(statusOf)));
  const rows = migrations.map(({ name, state, appliedAt }) => [name, state, appliedAt?.toISOString() ?? ""]);
  for (const line of renderTable(["MIGRATION", "STATE", "APPLIED"], rows)) output.data(line);
  const left = leftOf(migrations).length;
  if (left > 0) output.note(`${left} to apply: signalbox migrate up`);
}

export async function migratePlan(options: MigratePlanOptions, output: Output): Promise<void> {
  const migrations = await withScheduler(options, async (scheduler) => await scheduler.migrations());
  requireMigratable(migrations);
  const left = leftOf(migrations);
  if (options.json) return output.data(JSON.stringify(left.map(planOf)));
  for (const { name, left: steps } of left) {
    output.data(options.sql ? `-- ${name}.sql\n${steps.join("\n-- step\n").trim()}\n` : `${name}.sql`);
  }
  if (left.length === 0) output.note("Nothing to apply: the schema is current.");
}

export async function migrateUp(options: MigrateOptions, output: Output): Promise<void> {
  const { applied } = await withScheduler(options, async (scheduler) => await scheduler.migrate());
  if (options.json) return output.data(JSON.stringify({ applied }));
  for (const name of applied) output.data(`applied  ${name}.sql`);
  if (applied.length === 0) output.note("Nothing to apply: the schema is current.");
}

async function withScheduler<Answer>(
  { databaseUrl }: MigrateOptions,
  ask: (scheduler: Scheduler) => Promise<Answer>,
): Promise<Answer> {
  const config = readConfig();
  const { directUrl } = config;
  const scheduler = createScheduler({
    name: "migrate",
    databaseUrl: requireDatabaseUrl(databaseUrl, config),
    ...(directUrl === null ? {} : { directUrl }),
  });
  try {
    return await ask(scheduler);
  } finally {
    await scheduler.stop();
  }
}

/** A plan that `up` would refuse is none. */
function requireMigratable(migrations: readonly MigrationReport[]): void {
  const newest = migrations.findLast(({ state }) => state === "unknown");
  if (newest !== undefined) {
    const known = Math.max(
      ...migrations.filter(({ state }) => state !== "unknown").map(({ number }) => number),
    );
    throw new SchedulerError("SCHEMA_TOO_NEW", { found: newest.number, known });
  }
  const changed = migrations.find(({ state }) => state === "changed");
  if (changed !== undefined) throw new SchedulerError("MIGRATION_CHANGED", { name: changed.name });
}

function leftOf(migrations: readonly MigrationReport[]): readonly MigrationReport[] {
  return migrations.filter(({ state }) => state === "pending" || state === "begun");
}

function statusOf({ number, name, state, appliedAt }: MigrationReport) {
  return { number, name, state, appliedAt };
}

function planOf({ number, name, left }: MigrationReport) {
  return { number, name, sql: left };
}
