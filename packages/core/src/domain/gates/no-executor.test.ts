import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { noExecutor } from "./no-executor.ts";

it("is open while a live instance can run its kind", () => {
  expect(noExecutor(candidate({ kind: "sql" }), gateView({ servedKinds: new Set(["echo", "sql"]) }))).toEqual(
    [],
  );
});

it("closes when none can, and names the kind", () => {
  expect(noExecutor(candidate({ kind: "sql" }), gateView({ servedKinds: new Set(["echo"]) }))).toEqual([
    { code: "NO_EXECUTOR", kind: "sql" },
  ]);
});
