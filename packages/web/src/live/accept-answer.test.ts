import { describe, expect, test } from "vitest";
import { createAcceptance } from "./accept-answer.ts";

describe("a row", () => {
  test("that is older than the known one gives way to it, in lists and alone", () => {
    const accept = createAcceptance();
    accept({ taskRunId: "a", status: "DONE", rowVersion: 5 });

    expect(accept({ taskRuns: [{ taskRunId: "a", status: "RUNNING", rowVersion: 4 }], next: null })).toEqual({
      taskRuns: [{ taskRunId: "a", status: "DONE", rowVersion: 5 }],
      next: null,
    });
  });

  test("keeps what only its own answer says", () => {
    const accept = createAcceptance();
    accept({ taskRunId: "a", status: "DONE", rowVersion: 5 });

    expect(accept({ taskRunId: "a", status: "RUNNING", rowVersion: 4, input: { rows: 7 } })).toEqual({
      taskRunId: "a",
      status: "DONE",
      rowVersion: 5,
      input: { rows: 7 },
    });
  });

  test("of a smaller version is taken once another server of the database answers: the greater one was lost", () => {
    const accept = createAcceptance();
    accept({ timeline: 1 });
    accept({ taskRunId: "a", status: "DONE", rowVersion: 5 });
    accept({ timeline: 2 });

    expect(accept({ taskRunId: "a", status: "RUNNING", rowVersion: 4 })).toMatchObject({ status: "RUNNING" });
    accept({ timeline: 2 });
    expect(accept({ taskRunId: "a", status: "PENDING", rowVersion: 3 })).toMatchObject({ status: "RUNNING" });
  });

  test("of the same version is taken: where it is parked changes without it", () => {
    const accept = createAcceptance();
    accept({ taskRunId: "a", rowVersion: 1, blockedOn: null });

    expect(accept({ taskRunId: "a", rowVersion: 1, blockedOn: "RUN_AT" })).toMatchObject({
      blockedOn: "RUN_AT",
    });
  });
});

test("what has no version passes as it is", () => {
  const body = {
    computedAt: "2026-11-17T12:00:00Z",
    instances: [{ name: "inst-a" }],
    waiting: { RUN_AT: 1 },
  };

  expect(createAcceptance()(body)).toEqual(body);
});
