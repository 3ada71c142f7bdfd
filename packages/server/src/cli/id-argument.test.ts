import { expect, test } from "vitest";
import { idAbove, runIdOf, taskRunIdOf } from "./id-argument.ts";

const ID = "019a8c3e-5d21-7abc-8def-000000000001";

test.each([
  [ID, ID],
  [ID.toUpperCase(), ID],
  [` ${ID} `, ID],
  ["019a8c3e", "019a8c3e"],
  ["019a8c3e-5d21-7", "019a8c3e-5d21-7"],
  ["019a8c3e5d21", "019a8c3e5d21"],
  [`http://127.0.0.1:7410/task-runs/${ID}?tab=logs#L3`, ID],
  [`https://sb.example/base/task-runs/${ID}/`, ID],
])("%s names a task run", (given, id) => {
  expect(taskRunIdOf(given)).toBe(id);
});

test.each([
  ["", /id is empty/],
  ["   ", /id is empty/],
  ["0", /too short/],
  ["019", /too short/],
  ["nightly", /not the id of a task or task run/],
  ["../../etc", /not the id/],
  [`${ID}0`, /not the id/],
  [`https://sb.example/runs/${ID}`, /not that of a task or task run/],
  ["https://sb.example/task-runs/%zz", /not the id/],
  ["https://", /not that of a task/],
])("%j is refused with a sentence", (given, problem) => {
  expect(() => taskRunIdOf(given)).toThrow(problem);
});

test("the address of a run is one of a run", () => {
  expect(runIdOf(`https://sb.example/runs/${ID}?tab=tasks`)).toBe(ID);
});

test("the id above a prefix is an id, and above all that begin with it", () => {
  expect(idAbove("019a8c3e-5d21")).toBe("019a8c3e-5d21-7fff-bfff-ffffffffffff");
  expect(idAbove("019a8c3e5d2")).toBe("019a8c3e-5d2f-7fff-bfff-ffffffffffff");
  expect(idAbove(ID) >= ID).toBe(true);
});
