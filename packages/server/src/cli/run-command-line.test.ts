import { expect, test } from "vitest";
import { expandJson } from "./run-command-line.ts";

test("--json=a,b takes fields, --json takes none, also before an id", () => {
  expect(expandJson(["why", "--json", "019a"])).toEqual(["why", "--json", "019a"]);
  expect(expandJson(["why", "--json=status,title", "019a"])).toEqual([
    "why",
    "--json",
    "--fields",
    "status,title",
    "019a",
  ]);
  expect(expandJson(["api", "--", "--json=x"])).toEqual(["api", "--", "--json=x"]);
});
