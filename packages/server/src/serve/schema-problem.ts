import type { MigrationReport } from "@signalbox/core";

/** Why an instance of this version cannot work on this schema, and what to do; null: it can. */
export function schemaProblem(migrations: readonly MigrationReport[]): string | null {
  const newer = migrations.filter(({ state }) => state === "unknown");
  if (newer.length > 0) {
    return `The schema was migrated by a newer version (${namesOf(newer)}). Upgrade this one.`;
  }
  const left = migrations.filter(({ state }) => state === "pending" || state === "begun");
  if (left.length === 0) return null;
  const count = left.length === 1 ? "a migration" : `${left.length} migrations`;
  return `The schema lacks ${count} (${namesOf(left)}). Run signalbox migrate up first, or start with --migrate.`;
}

function namesOf(migrations: readonly MigrationReport[]): string {
  const names = migrations.map(({ name }) => name);
  return names.length > 2 ? `${names[0]} … ${names.at(-1)}` : names.join(", ");
}
