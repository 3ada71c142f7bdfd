import { expect, test } from "vitest";
import { belowBasePath } from "./base-path.ts";

test.each([
  ["/signalbox/healthz", "/healthz"],
  ["/signalbox/api/v1/task-runs?limit=1", "/api/v1/task-runs?limit=1"],
  ["/signalbox/", "/"],
  ["/signalbox", "/"],
  ["/signalbox?tab=1", "/?tab=1"],
  ["/healthz", null],
  ["/signalboxes/healthz", null],
  ["/", null],
])("%s is %s below it", (url, rest) => {
  expect(belowBasePath("/signalbox", url)).toBe(rest);
});

test("without a base path nothing changes", () => {
  expect(belowBasePath("", "/healthz")).toBe("/healthz");
});
