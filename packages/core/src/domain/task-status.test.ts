import { describe, expect, it } from "vitest";
import {
  ACTIONABLE_STATUSES,
  canMove,
  FIRST_STATUSES,
  isTerminal,
  OPEN_STATUSES,
  STATUS_NUMBER,
  TASK_RUN_STATUSES,
  TASK_STATUSES,
  TERMINAL_TASK_STATUSES,
  taskStatus,
} from "./task-status.ts";

describe("the numbers on the wire", () => {
  it("never change", () => {
    expect(STATUS_NUMBER).toEqual({
      STATUS_UNSPECIFIED: 0,
      PENDING: 1,
      RUNNING: 2,
      DONE: 3,
      FAILED: 4,
      CANCELED: 5,
      NOT_STARTED: 6,
      SKIPPED: 7,
      AVAILABLE: 8,
    });
  });

  it("exist for every status of a task", () => {
    expect(TASK_STATUSES.filter((status) => !(status in STATUS_NUMBER))).toEqual([]);
    expect(TASK_STATUSES).toHaveLength(Object.keys(STATUS_NUMBER).length - 1);
  });
});

describe("the moves of a task run", () => {
  // RELIABILITY S1: P->A,C,F; A->R,P,C,F; R->D,F,C,P,R.
  const allowed = [
    "PENDING → AVAILABLE",
    "PENDING → FAILED",
    "PENDING → CANCELED",
    "AVAILABLE → PENDING",
    "AVAILABLE → RUNNING",
    "AVAILABLE → FAILED",
    "AVAILABLE → CANCELED",
    "RUNNING → PENDING",
    "RUNNING → RUNNING",
    "RUNNING → DONE",
    "RUNNING → FAILED",
    "RUNNING → CANCELED",
  ];

  it("are those of the table and no others", () => {
    const possible = TASK_RUN_STATUSES.flatMap((from) =>
      TASK_RUN_STATUSES.filter((to) => canMove(from, to)).map((to) => `${from} → ${to}`),
    );

    expect(possible).toEqual(allowed);
  });

  it("begin with PENDING or AVAILABLE", () => {
    expect(FIRST_STATUSES).toEqual(["PENDING", "AVAILABLE"]);
  });

  it("end with DONE, FAILED or CANCELED, and what has not ended is open", () => {
    expect(TASK_RUN_STATUSES.filter(isTerminal)).toEqual(["DONE", "FAILED", "CANCELED"]);
    expect(TASK_RUN_STATUSES.filter((status) => !isTerminal(status))).toEqual(OPEN_STATUSES);
  });
});

describe("the status of a task", () => {
  it("is SKIPPED when it is skipped, whatever its task runs say", () => {
    expect(taskStatus(true, null)).toBe("SKIPPED");
    expect(taskStatus(true, "FAILED")).toBe("SKIPPED");
  });

  it("is NOT_STARTED while it has no task run", () => {
    expect(taskStatus(false, null)).toBe("NOT_STARTED");
  });

  it.each(TASK_RUN_STATUSES)("is %s when its newest task run is", (status) => {
    expect(taskStatus(false, status)).toBe(status);
  });

  it("is shown from not started over pending, available and running to the ended ones", () => {
    expect(TASK_STATUSES).toEqual([
      "NOT_STARTED",
      "PENDING",
      "AVAILABLE",
      "RUNNING",
      "DONE",
      "FAILED",
      "CANCELED",
      "SKIPPED",
    ]);
  });

  it("is either one that a person can do something about, or terminal", () => {
    expect(TERMINAL_TASK_STATUSES).toEqual(["DONE", "SKIPPED"]);
    expect([...ACTIONABLE_STATUSES, ...TERMINAL_TASK_STATUSES].sort()).toEqual([...TASK_STATUSES].sort());
  });
});
