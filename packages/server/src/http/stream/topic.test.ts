import { expect, test } from "vitest";
import { RequestError } from "../problem.ts";
import { topicsOf } from "./topic.ts";

test.each([
  "overview",
  "rules",
  "queues",
  "instances",
  "instances/01a1ea0b",
  "task-runs",
  "task-runs?status=RUNNING&limit=50",
  "task-runs/01a1ea0b",
  "task-runs/01a1ea0b/explanation",
  "task-runs/01a1ea0b/attempts?limit=5",
  "runs?limit=5",
  "runs/01a1ea0b",
  "resources?search=orders",
  "resources/orders%2Fprod",
  "resources/.hidden",
])("%s can be watched", (name) => {
  expect(topicsOf(name).topics).toMatchObject([{ name, url: `/api/v1/${name}` }]);
});

test.each([
  "",
  "metrics",
  "../metrics",
  "task-runs/..",
  "task-runs/%2E%2e",
  "task-runs/./explanation",
  "task-runs/x/cancel",
  "task-runs/x/y/z",
  "overview?x=1",
  "overview#",
  "overview\n",
  "//evil.example/overview",
])("%j cannot", (name) => {
  expect(() => topicsOf(name)).toThrow(RequestError);
});

test("each counts once, and there is an end to them", () => {
  expect(topicsOf(["overview", "rules", "overview"]).topics.map(({ name }) => name)).toEqual([
    "overview",
    "rules",
  ]);
  const many = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `runs/${n}`);
  expect(topicsOf(many(20)).topics).toHaveLength(20);
  expect(() => topicsOf(many(21))).toThrow("topic: at most 20 in one stream");
  expect(() => topicsOf(undefined)).toThrow("topic: give at least one");
  expect(() => topicsOf(`runs/${"x".repeat(1_000)}`)).toThrow("at most 1000 characters");
});

test("one that cannot be watched does not keep the others from it", () => {
  const { topics, refused } = topicsOf(["overview", "metrics", "rules"]);

  expect(topics.map(({ name }) => name)).toEqual(["overview", "rules"]);
  expect(refused).toMatchObject([{ name: "metrics", refusal: { code: "INVALID_REQUEST" } }]);
});
