import { expect, test } from "vitest";
import { foldChange } from "./fold-change.ts";

const at = "2026-11-17T12:00:00Z";

test("a whole answer replaces the one before", () => {
  expect(foldChange({ running: 1 }, { topic: "overview", at, body: { running: 2 } })).toEqual({ running: 2 });
});

test("a list takes the order of the ids, known rows and new ones", () => {
  const before = { taskRuns: [row("b", 1), row("a", 1)], next: null };

  const after = foldChange(before, {
    topic: "task-runs?limit=2",
    at,
    ids: ["c", "b"],
    rows: [row("c", 1), row("b", 2)],
    next: "b",
  });

  expect(after).toEqual({ taskRuns: [row("c", 1), row("b", 2)], next: "b" });
});

test.each([
  ["runs", "runs", { runId: "r", rowVersion: 1 }],
  ["operations?limit=50", "operations", { operationId: "r", rowVersion: 1 }],
])("a list of %s has their ids", (topic, list, named) => {
  expect(foldChange(undefined, { topic, at, ids: ["r"], rows: [named], next: null })).toEqual({
    [list]: [named],
    next: null,
  });
});

test("rows that were never sent cannot be shown", () => {
  expect(foldChange(undefined, { topic: "task-runs", at, ids: ["a"], rows: [], next: null })).toBeNull();
});

function row(taskRunId: string, rowVersion: number) {
  return { taskRunId, rowVersion };
}
