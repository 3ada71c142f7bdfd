import { expect, test } from "vitest";
import { nextName } from "./crew.ts";

test("names go on where others stopped", () => {
  expect(nextName(new Set())).toBe("inst-a");
  expect(nextName(new Set(["inst-a", "inst-c"]))).toBe("inst-b");
  const letters = Array.from({ length: 26 }, (_, index) => `inst-${String.fromCharCode(97 + index)}`);
  expect(nextName(new Set(letters))).toBe("inst-aa");
  expect(nextName(new Set([...letters, "inst-aa"]))).toBe("inst-ab");
});
