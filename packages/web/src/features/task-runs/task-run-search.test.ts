import { describe, expect, test } from "vitest";
import { readTaskRunSearch, toggleStatus, topicOf } from "./task-run-search.ts";

describe("the address", () => {
  test("says what to show, and whatever else stands there is left out", () => {
    expect(
      readTaskRunSearch({ status: "RUNNING,NONSENSE,PENDING", kind: " report ", colour: "red", queue: "" }),
    ).toEqual({
      status: "PENDING,RUNNING",
      kind: "report",
    });
  });

  test("a value that looks like a number is text", () => {
    expect(readTaskRunSearch({ tag: 42 })).toEqual({ tag: "42" });
  });
});

test("a status is switched on, and off again", () => {
  const on = toggleStatus({ kind: "report" }, "FAILED");

  expect(on).toEqual({ kind: "report", status: "FAILED" });
  expect(toggleStatus(on, "FAILED")).toEqual({ kind: "report" });
});

test("a filter becomes the query of the list, with values escaped", () => {
  expect(topicOf({ status: "RUNNING,DONE", queue: "a&b" }, "019a")).toBe(
    "task-runs?status=RUNNING%2CDONE&queue=a%26b&limit=100&before=019a",
  );
});
