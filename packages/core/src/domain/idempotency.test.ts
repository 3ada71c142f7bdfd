import { describe, expect, it } from "vitest";
import { canonicalRequest, requireKey } from "./idempotency.ts";
import { resolveTaskSpec, type TaskSpec } from "./task-spec.ts";

function requestOf(specs: readonly TaskSpec[], run: { title: string; limit: number } | null = null): string {
  return canonicalRequest({ tasks: specs.map((spec) => resolveTaskSpec(spec)), run });
}

describe("a request", () => {
  it("is the same however its fields are ordered and whether a default is given or left out", () => {
    const short: TaskSpec = { kind: "report", input: { a: 1, b: 2 } };
    const long: TaskSpec = { retry: { attempts: 1 }, input: { b: 2, a: 1 }, priority: 5, kind: "report" };

    expect(requestOf([short])).toBe(requestOf([long]));
  });

  it.each<[string, TaskSpec]>([
    ["another input", { kind: "report", input: 2 }],
    ["an input that is null inside", { kind: "report", input: { a: null } }],
    ["another priority", { kind: "report", input: 1, priority: 4 }],
    ["another run time", { kind: "report", input: 1, runAt: new Date(1) }],
    ["a resource", { kind: "report", input: 1, resources: [{ name: "orders", mode: "shared" }] }],
    ["another backoff", { kind: "report", input: 1, retry: { backoff: { firstMs: 7 } } }],
  ])("is another one with %s", (_, other) => {
    expect(requestOf([other])).not.toBe(requestOf([{ kind: "report", input: 1 }]));
  });

  it("is another one as a run, and with its tasks in another order", () => {
    const [a, b]: [TaskSpec, TaskSpec] = [{ kind: "a" }, { kind: "b" }];

    expect(requestOf([a, b], { title: "nightly", limit: 0 })).not.toBe(requestOf([a, b]));
    expect(requestOf([b, a])).not.toBe(requestOf([a, b]));
  });

  it("does not change with a field of a later version that it does not use", () => {
    const [task] = [resolveTaskSpec({ kind: "report" })];
    const later = { ...task, laterSetting: null, laterList: [] };

    expect(canonicalRequest({ tasks: [later], run: null })).toBe(
      canonicalRequest({ tasks: [task], run: null }),
    );
  });
});

describe("a key", () => {
  it.each(["order-42", "a", "x".repeat(200), '"quoted"'])("can be %s", (key) => {
    expect(() => requireKey(key)).not.toThrow();
  });

  it.each(["", "x".repeat(201), "two words", "a\u0000b", "schlüssel", "line\nbreak"])(
    "cannot be %j",
    (key) => {
      expect(() => requireKey(key)).toThrow("idempotencyKey: needs between 1 and 200 characters");
    },
  );
});
