import type { TaskRun } from "@signalbox/contract";
import { expect, test } from "vitest";
import { rescuedOf } from "./rescued-of.ts";

const attemptOf = (taskId: string, attempt: number): TaskRun => ({ taskId, attempt }) as TaskRun;

test("each that was lost is there, with the attempt that followed where that is known", () => {
  const [first, second, other] = [attemptOf("a", 1), attemptOf("a", 2), attemptOf("b", 1)];
  const third = attemptOf("a", 3);

  expect(rescuedOf([second, other, first], [third])).toEqual([
    { lost: second, next: third },
    { lost: other, next: null },
    { lost: first, next: second },
  ]);
});
