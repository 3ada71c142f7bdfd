import type { Problem } from "@signalbox/contract";
import { expect, test } from "vitest";
import { createTroubles } from "./troubles.ts";

const gone: Problem = {
  type: "about:blank",
  title: "Service Unavailable",
  status: 503,
  code: "DATABASE_UNREACHABLE",
  detail: "Gone",
};

test("the answer to one topic does not end the trouble of another", () => {
  const troubles = createTroubles();
  troubles.note("overview", gone);

  expect(troubles.note("task-runs", null)).toBe(gone);
  expect(troubles.note("overview", null)).toBeNull();
});

test("what nobody follows any more is no trouble", () => {
  const troubles = createTroubles();
  troubles.note("queues", gone);

  expect(troubles.keep(["overview"])).toBeNull();
});

test("what is not found is none of the whole page", () => {
  expect(createTroubles().note("task-runs/x", { ...gone, status: 404 })).toBeNull();
});
