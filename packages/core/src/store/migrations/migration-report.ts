/** What `migrate` has done and would do, by what is recorded and what this version brings. Pure. */

import type { AppliedStep } from "./applied-steps.ts";
import type { Migration } from "./read-migrations.ts";

/** A migration of this version, or one that a newer version applied. */
export interface MigrationReport {
  readonly number: number;
  readonly name: string;
  /**
   * `applied`; `pending`: `migrate` applies it; `begun`: it goes on with the steps that are left. The last two make
   * `migrate` refuse: `changed`: it was applied with another text; `unknown`: a newer version applied it.
   */
  readonly state: "applied" | "pending" | "begun" | "changed" | "unknown";
  /** When its last step was applied; null while some are left. */
  readonly appliedAt: Date | null;
  /** The SQL of the steps that are left. */
  readonly left: readonly string[];
}

export function reportMigrations(
  known: readonly Migration[],
  applied: readonly AppliedStep[],
): readonly MigrationReport[] {
  const ofThis = known.map((migration) =>
    reportOne(
      migration,
      applied.filter(({ number }) => number === migration.number),
    ),
  );
  const newest = Math.max(0, ...known.map(({ number }) => number));
  return [...ofThis, ...ofNewer(applied.filter(({ number }) => number > newest))];
}

function reportOne(
  { number, name, checksum, steps }: Migration,
  done: readonly AppliedStep[],
): MigrationReport {
  const left = steps.filter((_, step) => !done.some((row) => row.step === step)).map(({ text }) => text);
  const report = { number, name, appliedAt: left.length === 0 ? lastOf(done) : null, left };
  if (done.some((row) => row.checksum !== checksum)) return { ...report, state: "changed" };
  if (left.length === 0) return { ...report, state: "applied" };
  return { ...report, state: done.length === 0 ? "pending" : "begun" };
}

function ofNewer(applied: readonly AppliedStep[]): readonly MigrationReport[] {
  const names = new Map(applied.map(({ number, name }) => [number, name]));
  return [...names].map(([number, name]) => ({
    number,
    name,
    state: "unknown",
    // How many steps it has is not known here: what is recorded last counts.
    appliedAt: lastOf(applied.filter((row) => row.number === number)),
    left: [],
  }));
}

function lastOf(done: readonly AppliedStep[]): Date | null {
  const times = done.map(({ appliedAt }) => appliedAt.getTime());
  return times.length === 0 ? null : new Date(Math.max(...times));
}
