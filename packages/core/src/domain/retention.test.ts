import { describe, expect, it } from "vitest";
import { asTaskId } from "./ids.ts";
import { type AgingTask, choosePrunable, leftBehind, shortestKeepMs } from "./retention.ts";

const NOW = new Date("2026-11-15T12:00:00.000Z");
const HOUR = 3_600_000;
const KEEP = { DONE: HOUR, FAILED: 3 * HOUR, CANCELED: 2 * HOUR };
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

function task(fields: Partial<AgingTask> = {}): AgingTask {
  return {
    taskId: asTaskId("task"),
    runId: null,
    status: "DONE",
    attempts: 1,
    endedAt: ago(100 * HOUR),
    runOpen: false,
    holding: false,
    ...fields,
  };
}

describe("a task is pruned", () => {
  it.each([
    ["DONE", HOUR],
    ["FAILED", 3 * HOUR],
    ["CANCELED", 2 * HOUR],
  ] as const)("when it is %s and was kept as long as asked, not a moment before", (status, keep) => {
    expect(choosePrunable([task({ status, endedAt: ago(keep) })], KEEP, NOW)).toHaveLength(1);
    expect(choosePrunable([task({ status, endedAt: ago(keep - 1) })], KEEP, NOW)).toEqual([]);
  });

  it.each<[string, Partial<AgingTask>]>([
    ["is PENDING", { status: "PENDING", endedAt: null }],
    ["is AVAILABLE", { status: "AVAILABLE", endedAt: null }],
    ["is RUNNING", { status: "RUNNING", endedAt: null }],
    ["is open, though its run has an end", { status: "PENDING", endedAt: ago(9 * HOUR) }],
    ["has not begun", { status: null, endedAt: null }],
    ["belongs to a run that goes on", { runOpen: true }],
    ["holds something", { holding: true }],
  ])("never while it %s", (_, fields) => {
    expect(choosePrunable([task(fields)], KEEP, NOW)).toEqual([]);
  });

  it("never where it is to be kept for ever", () => {
    expect(choosePrunable([task({ endedAt: new Date(0) })], { ...KEEP, DONE: Infinity }, NOW)).toEqual([]);
  });

  it("in bites: no more attempts at once than a statement should take, but at least one task", () => {
    expect(
      choosePrunable(
        Array.from({ length: 30 }, () => task({ attempts: 100 })),
        KEEP,
        NOW,
      ),
    ).toHaveLength(20);
    expect(choosePrunable([task({ attempts: 5_000 }), task()], KEEP, NOW)).toHaveLength(1);
  });
});

describe("what is left behind", () => {
  it("is told by the oldest end of each status and by whether anything is open", () => {
    const tasks = [
      task({ endedAt: ago(5) }),
      task({ endedAt: ago(9) }),
      task({ status: "FAILED", endedAt: ago(7) }),
      task({ runOpen: true }),
    ];

    expect(leftBehind(tasks)).toEqual({
      oldest: { DONE: ago(9), FAILED: ago(7), CANCELED: null },
      anyOpen: true,
    });
    expect(leftBehind([])).toEqual({ oldest: { DONE: null, FAILED: null, CANCELED: null }, anyOpen: false });
  });

  it("cannot be due before the shortest time", () => {
    expect(shortestKeepMs(KEEP)).toBe(HOUR);
    expect(shortestKeepMs({ DONE: Infinity, FAILED: Infinity, CANCELED: Infinity })).toBe(Infinity);
  });
});
