import { expect, it } from "vitest";
import { asInstanceId, asRunId, asTaskId, asTaskRunId, isUuid } from "./ids.ts";

it.each(["0199a7e0-7b1c-7f00-8000-00000000abcd", "0199A7E0-7B1C-7F00-8000-00000000ABCD"])(
  "takes %s for a uuid",
  (text) => {
    expect(isUuid(text)).toBe(true);
  },
);

it.each([
  "",
  "0199a7e0",
  "0199a7e07b1c7f00800000000000abcd",
  "0199a7e0-7b1c-7f00-8000-00000000abcg",
  " 0199a7e0-7b1c-7f00-8000-00000000abcd",
  "0199a7e0-7b1c-7f00-8000-00000000abcd\n",
])("does not take %j for a uuid", (text) => {
  expect(isUuid(text)).toBe(false);
});

it("leaves the text of an id as it is", () => {
  expect([asTaskId("x"), asTaskRunId("x"), asRunId("x"), asInstanceId("x")]).toEqual(["x", "x", "x", "x"]);
});
