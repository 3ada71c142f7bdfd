import { describe, expect, test } from "vitest";
import { changeOf, type Known } from "./change.ts";
import { topicsOf } from "./topic.ts";

const AT = "2026-11-17T12:00:00.000Z";
const [overview] = topicsOf("overview").topics;
const [list] = topicsOf("task-runs?limit=3").topics;
if (overview === undefined || list === undefined) throw new Error("these are topics");

describe("an answer without rows", () => {
  const told = (body: unknown, known: Known | null = null) =>
    changeOf(overview, { at: AT, text: JSON.stringify(body) }, known);

  test("is told whole, and again only when it is another", () => {
    const first = told({ available: 1 });
    expect(first.event).toEqual({ topic: "overview", at: AT, body: { available: 1 } });
    expect(told({ available: 1 }, first.known).event).toBeNull();
    expect(told({ available: 2 }, first.known).event).toMatchObject({ body: { available: 2 } });
  });

  test("that differs only in when it was computed is the same", () => {
    const first = told({ computedAt: "2026-11-17T12:00:00.000Z", available: 1 });
    expect(told({ computedAt: "2026-11-17T12:00:01.000Z", available: 1 }, first.known).event).toBeNull();
  });
});

describe("a list of rows with versions", () => {
  const row = (taskRunId: string, rowVersion: number) => ({ taskRunId, rowVersion });
  const told = (rows: readonly unknown[], known: Known | null = null, next: string | null = null) =>
    changeOf(list, { at: AT, text: JSON.stringify({ taskRuns: rows, next }) }, known);

  test("is told whole at first, then in order with what is new or newer", () => {
    const first = told([row("b", 1), row("a", 4)], null, "a");
    expect(first.event).toEqual({
      topic: "task-runs?limit=3",
      at: AT,
      ids: ["b", "a"],
      rows: [row("b", 1), row("a", 4)],
      next: "a",
    });
    const second = told([row("c", 1), row("b", 2), row("a", 4)], first.known);
    expect(second.event).toMatchObject({ ids: ["c", "b", "a"], rows: [row("c", 1), row("b", 2)] });
  });

  test("says a row again that tells more under the same version: parked under another gate", () => {
    const parked = (blockedOn: string | null) => ({ ...row("a", 1), blockedOn });
    const first = told([parked(null), row("b", 1)]);
    const second = told([parked("RESOURCE_BUSY"), row("b", 1)], first.known);
    expect(second.event).toMatchObject({ rows: [parked("RESOURCE_BUSY")] });
    expect(told([parked("RESOURCE_BUSY"), row("b", 1)], second.known).event).toBeNull();
  });

  test("never says a row again that is older than what was said", () => {
    const first = told([row("a", 4)]);
    expect(told([row("a", 3)], first.known).event).toMatchObject({ ids: ["a"], rows: [] });
  });

  test("says that a row has left by its order alone", () => {
    const first = told([row("b", 1), row("a", 1)]);
    expect(told([row("b", 1)], first.known).event).toMatchObject({ ids: ["b"], rows: [] });
  });
});
