import type { TaskRun } from "@signalbox/contract";
import { expect, test } from "vitest";
import { chartData } from "./chart-data.ts";

const LATER = Date.UTC(2026, 10, 17, 13);

test("nothing that ended draws nothing", () => {
  expect(chartData([], LATER)).toBeNull();
});

test("counts ends by spans, and takes percentiles of each leg", () => {
  const data = chartData([ended("DONE", 1, 3), ended("FAILED", 2, 4), ended("DONE", 1, 12)], LATER);

  expect(data).toMatchObject({
    bucketMs: 5_000,
    ended: { DONE: [1, 0, 1], FAILED: [1, 0, 0], CANCELED: [0, 0, 0] },
    total: { DONE: 2, FAILED: 1, CANCELED: 0 },
  });
  expect(data?.whole.run).toEqual({ p50: 2_000, p95: 11_000 });
  expect(data?.p95.gate).toEqual([0, null, 0]);
});

test("a span that is not over yet is no fall, unless it is the only one", () => {
  const taskRuns = [ended("DONE", 1, 3), ended("DONE", 1, 12)];
  const at = (second: number): number => Date.UTC(2026, 10, 17, 12, 0, second);

  expect(chartData(taskRuns, at(14))).toMatchObject({ ended: { DONE: [1, 0, null] }, total: { DONE: 2 } });
  expect(chartData(taskRuns, at(15))).toMatchObject({ ended: { DONE: [1, 0, 1] } });
  expect(chartData(taskRuns.slice(0, 1), at(4))).toMatchObject({ ended: { DONE: [1] } });
});

/** Claimed and ended at these seconds; only what charts look at. */
function ended(status: TaskRun["status"], claimed: number, finished: number): TaskRun {
  const second = (at: number): string => new Date(Date.UTC(2026, 10, 17, 12, 0, at)).toISOString();
  return {
    status,
    enqueuedAt: second(claimed),
    availableAt: second(claimed),
    claimedAt: second(claimed),
    finishedAt: second(finished),
  } as TaskRun;
}
