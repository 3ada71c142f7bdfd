import { expect, it } from "vitest";
import { idsAfter } from "./counted-ids.ts";

it("counts on from the first id: two for each task, one of them its task run's", () => {
  const first = "019a8f00-1234-7abc-8def-0123400000fe";

  expect([0, 1, 2].map((after) => idsAfter(first, after))).toEqual([
    { taskId: first, taskRunId: "019a8f00-1234-7abc-8def-0123400000ff" },
    { taskId: "019a8f00-1234-7abc-8def-012340000100", taskRunId: "019a8f00-1234-7abc-8def-012340000101" },
    { taskId: "019a8f00-1234-7abc-8def-012340000102", taskRunId: "019a8f00-1234-7abc-8def-012340000103" },
  ]);
});

it("has eight digits to count with also after the largest that is drawn", () => {
  const { taskRunId } = idsAfter("019a8f00-1234-7abc-8def-01237fffffff", 99_999);

  expect(taskRunId).toBe("019a8f00-1234-7abc-8def-012380030d3e");
});
