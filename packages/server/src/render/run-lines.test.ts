import type { RunDetail, TaskRun } from "@signalbox/contract";
import { expect, test } from "vitest";
import { createLook } from "./look.ts";
import { progressBar } from "./progress-bar.ts";
import { failureLines, runLines } from "./run-lines.ts";

const MOMENT = {
  now: "2026-11-16T12:04:12.000Z",
  look: { ...createLook({ color: false, unicode: true }), timeZone: "UTC" },
};
const RUN: RunDetail = {
  runId: "019a8c3e-5d21-7abc-8def-000000000001",
  title: "nightly",
  status: "RUNNING",
  limit: 2,
  openTasks: 2,
  failedTasks: 1,
  canceledTasks: 0,
  paused: { since: "2026-11-16T12:04:02.000Z", by: "ann", reason: "look\u001b[2J first" },
  createdAt: "2026-11-16T12:00:00.000Z",
  finishedAt: null,
  rowVersion: 1,
  tasks: { PENDING: 1, AVAILABLE: 0, RUNNING: 1, DONE: 2, FAILED: 1, CANCELED: 0 },
};

test("a run says how far it is, what keeps it, and what needs somebody first", () => {
  const lines = runLines(
    RUN,
    [taskRun("RUNNING", "b"), taskRun("FAILED", "a"), taskRun("DONE", "c")],
    MOMENT,
  );

  expect(lines.slice(0, 4)).toEqual([
    "● running  nightly  3/5  █████████████████░░░░░░░░░░░  4 min 12 s",
    "  2 done, 1 running, 1 pending, 1 failed, at most 2 at once",
    "  paused by ann for 10 s: look·[2J first",
    "  run 019a8c3e-5d21-7abc-8def-000000000001",
  ]);
  expect(lines.slice(5).map((line) => line.trim().slice(0, 12))).toEqual(["✖ failed   a", "● running  b"]);
});

test("failures are told once more at the end, with where to look", () => {
  expect(failureLines([taskRun("DONE", "c")])).toEqual([]);
  expect(failureLines([taskRun("FAILED", "a")])).toEqual([
    "Failed (1):",
    "  a  attempt 1  HANDLER_FAILED  signalbox logs 019a8c3e-5d21-7abc-8def-00000000000a",
  ]);
});

test.each([
  [0, 4, "...."],
  [1, 4, "#..."],
  [99, 100, "###."],
  [4, 4, "####"],
  [0, 0, "...."],
])("%d of %d is %s", (part, whole, bar) => {
  expect(progressBar(part, whole, { width: 4, unicode: false })).toBe(bar);
});

test.each([
  [1, 1, "attempt 1  "],
  [2, 3, "attempt 2/3"],
])("attempt %d of %d is %s", (attempt, attempts, text) => {
  expect(failureLines([{ ...taskRun("FAILED", "a"), attempt, attempts }])[1]).toContain(text);
});

function taskRun(status: TaskRun["status"], title: string): TaskRun {
  return {
    taskRunId: `019a8c3e-5d21-7abc-8def-00000000000${title}`,
    taskId: "019a8c3e-5d21-7abc-8def-000000000009",
    runId: RUN.runId,
    kind: "report",
    queue: "default",
    title,
    tags: [],
    attempt: 1,
    attempts: 1,
    status,
    priority: 5,
    runAt: null,
    version: null,
    resources: [],
    concurrencyKey: null,
    rate: null,
    blockedOn: null,
    enqueuedAt: "2026-11-16T12:00:00.000Z",
    availableAt: null,
    claimedAt: null,
    claimedBy: null,
    instanceName: "inst-a",
    claimNo: null,
    cancelRequestedAt: null,
    finishedAt: null,
    outcome: status === "FAILED" ? "HANDLER_FAILED" : null,
    rowVersion: 1,
  };
}
