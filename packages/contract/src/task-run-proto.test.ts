import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderTaskRunProto } from "./task-run-proto.ts";

test("task_run.proto has the numbers of core's table", () => {
  const committed = readFileSync(new URL("../proto/task_run.proto", import.meta.url), "utf8");

  expect(committed, "run `npm run generate:proto`").toBe(renderTaskRunProto());
  expect(committed).toContain("  AVAILABLE = 8;");
});
