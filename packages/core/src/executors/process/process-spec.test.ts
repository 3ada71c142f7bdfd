import { expect, it } from "vitest";
import { checkProcessEnv, checkProcessSpec } from "./process-spec.ts";

it("is used as it was when it was checked, whatever becomes of the object it came in", () => {
  const argv = ["ls"];
  const env: Record<string, string> = { COLOR: "blue" };
  const spec = checkProcessSpec({ argv, cwd: "/", env, graceMs: 1, onOutput: () => {} });
  const definition = checkProcessEnv(env);

  argv.push("-l");
  env["COLOR"] = "red";

  expect([spec.argv, spec.env, definition]).toEqual([["ls"], { COLOR: "blue" }, { COLOR: "blue" }]);
});
