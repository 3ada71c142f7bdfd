import { expect, test } from "vitest";
import { UsageError } from "../usage-error.ts";
import { type EnqueueArguments, taskSpecOf } from "./enqueue-arguments.ts";

const NOW = new Date("2026-11-16T12:00:00.000Z");

test("only what was given is sent", () => {
  expect(specOf({})).toEqual({ kind: "report" });
});

test("everything that can be given", () => {
  expect(
    specOf({
      input: '{"seconds":2}',
      title: "stock",
      resource: ["orders"],
      version: "1.10",
      outOfOrder: true,
      priority: 0,
      attempts: 3,
      queue: "nightly",
      tag: ["eu", "monthly"],
      rate: "mail",
      concurrencyKey: "customer:7",
    }),
  ).toEqual({
    kind: "report",
    input: { seconds: 2 },
    title: "stock",
    resources: [{ name: "orders", mode: "exclusive" }],
    version: "1.10",
    outOfOrder: true,
    priority: 0,
    retry: { attempts: 3 },
    queue: "nightly",
    tags: ["eu", "monthly"],
    rate: "mail",
    concurrencyKey: "customer:7",
  });
});

test.each([
  ["orders", { name: "orders", mode: "exclusive" }],
  ["orders:shared", { name: "orders", mode: "shared" }],
  ["orders:exclusive", { name: "orders", mode: "exclusive" }],
  ["prod:orders", { name: "prod:orders", mode: "exclusive" }],
  ["prod:orders:shared", { name: "prod:orders", mode: "shared" }],
])("the resource %s", (text, resource) => {
  expect(specOf({ resource: [text] }).resources).toEqual([resource]);
});

test.each([
  ["+30s", "2026-11-16T12:00:30.000Z"],
  ["+5m", "2026-11-16T12:05:00.000Z"],
  ["+2h", "2026-11-16T14:00:00.000Z"],
  ["+1d", "2026-11-17T12:00:00.000Z"],
  ["2026-11-16T14:00:00+02:00", "2026-11-16T12:00:00.000Z"],
])("--run-at %s", (text, runAt) => {
  expect(specOf({ runAt: text }).runAt).toBe(runAt);
});

test.each([
  ["tomorrow"],
  ["30s"],
  ["+5"],
  ["+999999999d"],
  ["2026-11-16T14:00:00"],
  ["2026-13-40T00:00:00Z"],
])("--run-at %s is refused", (text) => {
  expect(() => specOf({ runAt: text })).toThrow(UsageError);
});

test("--input must be JSON", () => {
  expect(() => specOf({ input: "{seconds:2}" })).toThrow(/--input is not JSON/);
});

function specOf(args: Partial<EnqueueArguments>) {
  return taskSpecOf("report", { resource: [], tag: [], ...args }, NOW);
}
