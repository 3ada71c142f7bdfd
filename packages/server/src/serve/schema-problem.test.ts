import type { MigrationReport } from "@signalbox/core";
import { expect, test } from "vitest";
import { schemaProblem } from "./schema-problem.ts";

function report(number: number, state: MigrationReport["state"]): MigrationReport {
  return { number, name: `000${number}_x`, state, appliedAt: null, left: [] };
}

test("a schema that is current is no problem", () => {
  expect(schemaProblem([report(1, "applied"), report(2, "applied")])).toBeNull();
});

test("one that is behind names what is left and the command", () => {
  expect(schemaProblem([report(1, "applied"), report(2, "begun"), report(3, "pending")])).toBe(
    "The schema lacks 2 migrations (0002_x, 0003_x). Run signalbox migrate up first, or start with --migrate.",
  );
  expect(schemaProblem([report(1, "pending")])).toContain("lacks a migration (0001_x)");
});

test("one of a newer version cannot be helped by migrating", () => {
  expect(schemaProblem([report(1, "applied"), report(2, "unknown")])).toBe(
    "The schema was migrated by a newer version (0002_x). Upgrade this one.",
  );
});
