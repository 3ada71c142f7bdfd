import { expect, test } from "vitest";
import type { AppliedStep } from "./applied-steps.ts";
import { reportMigrations } from "./migration-report.ts";
import type { Migration } from "./read-migrations.ts";

const EARLIER = new Date("2026-11-16T12:00:00Z");
const LATER = new Date("2026-11-17T12:00:00Z");

const first: Migration = {
  number: 1,
  name: "0001_tables",
  checksum: "one",
  steps: [{ text: "CREATE TABLE a ();", inTransaction: true }],
};
const second: Migration = {
  number: 2,
  name: "0002_index",
  checksum: "two",
  steps: [
    { text: "SELECT 1;", inTransaction: true },
    { text: "CREATE INDEX CONCURRENTLY b;", inTransaction: false },
  ],
};

function applied({ number, name, checksum }: Migration, step: number, appliedAt: Date): AppliedStep {
  return { number, step, name, checksum, appliedAt };
}

test("where nothing was applied, everything is pending with its SQL", () => {
  expect(reportMigrations([first, second], [])).toEqual([
    { number: 1, name: "0001_tables", state: "pending", appliedAt: null, left: ["CREATE TABLE a ();"] },
    {
      number: 2,
      name: "0002_index",
      state: "pending",
      appliedAt: null,
      left: ["SELECT 1;", "CREATE INDEX CONCURRENTLY b;"],
    },
  ]);
});

test("one of which steps are left goes on with those", () => {
  const report = reportMigrations([first, second], [applied(first, 0, EARLIER), applied(second, 0, LATER)]);

  expect(report).toMatchObject([
    { state: "applied", appliedAt: EARLIER, left: [] },
    { state: "begun", appliedAt: null, left: ["CREATE INDEX CONCURRENTLY b;"] },
  ]);
});

test("one with several steps was applied when its last one was", () => {
  const report = reportMigrations([second], [applied(second, 1, LATER), applied(second, 0, EARLIER)]);

  expect(report).toMatchObject([{ state: "applied", appliedAt: LATER }]);
});

test("another text and a newer version are told apart", () => {
  const edited = { ...applied(first, 0, EARLIER), checksum: "edited" };

  const report = reportMigrations([first], [edited, applied(second, 0, EARLIER), applied(second, 1, LATER)]);

  expect(report).toMatchObject([
    { name: "0001_tables", state: "changed" },
    { name: "0002_index", state: "unknown", appliedAt: LATER, left: [] },
  ]);
});
