import { describe, expect, it } from "vitest";
import { createTasksSchema } from "./create-task.ts";
import { taskRunQuerySchema } from "./task-run.ts";
import { waitingCause, waitingCode } from "./waiting-cause.ts";

const SINCE = "2026-11-16T12:00:24.000Z";
const CAUSES = [
  { code: "RUN_AT", runAt: SINCE },
  { code: "STOPPED", taskId: "t", stop: "APPROVAL", detail: null, since: SINCE },
  { code: "PAUSED", scope: "queue:mail", since: SINCE, by: null, reason: "flood" },
  { code: "NO_EXECUTOR", kind: "sql" },
  { code: "WINDOW", scope: "resource:orders", window: "freeze", opensAt: null },
  { code: "OUT_OF_ORDER", resource: "orders", version: "1", doneVersion: "2" },
  { code: "VERSION_ORDER", resource: "orders", version: "2", blocker: "x", blockerVersion: "1" },
  { code: "RUN_LIMIT", runId: "r", limit: 2, active: 2 },
  { code: "QUEUE_LIMIT", queue: "mail", limit: 2, active: 3 },
  { code: "KEY_LIMIT", concurrencyKey: "customer:7", limit: 1, active: 1 },
  { code: "FAIR_SHARE", runId: "r", share: 20, available: 20 },
  { code: "RATE_LIMIT", rate: "sms", amount: 1, perMs: 1_000, freeAt: SINCE },
  {
    code: "RESOURCE_BUSY",
    resource: "orders",
    mode: "shared",
    because: "line",
    blockers: [],
    reservedFor: null,
  },
  { code: "NOT_EVALUATED", since: SINCE },
] as const;

describe("a waiting cause on the wire", () => {
  it.each(CAUSES)("$code is read as it was written", (cause) => {
    expect(waitingCause.parse(JSON.parse(JSON.stringify(cause)))).toEqual(cause);
  });

  it("is one of those that have an example here", () => {
    expect(CAUSES.map(({ code }) => code).toSorted()).toEqual([...waitingCode.options].toSorted());
  });

  it("says of what it is paused or closed, and of nothing else", () => {
    const paused = { code: "PAUSED", since: SINCE, by: null, reason: null };
    const closed = { code: "WINDOW", window: "freeze", opensAt: null };

    expect(waitingCause.safeParse({ ...paused, scope: "key:customer:7" }).success).toBe(false);
    expect(waitingCause.safeParse({ ...closed, scope: "run:nightly" }).success).toBe(false);
  });
});

describe("what a request can say about queues and their like", () => {
  it("is taken field by field, and an unknown one is refused", () => {
    const task = {
      kind: "echo",
      queue: "mail",
      tags: ["eu"],
      concurrencyKey: "customer:7",
      rate: "sms",
      stops: [{ code: "APPROVAL", detail: "by two" }, { code: "STAGE_ORDER" }],
    };

    expect(createTasksSchema.parse({ tasks: [task] })).toEqual({ tasks: [task] });
    expect(createTasksSchema.safeParse({ tasks: [{ ...task, stops: [{ kode: "x" }] }] }).success).toBe(false);
    expect(createTasksSchema.safeParse({ tasks: [{ ...task, tags: "eu" }] }).success).toBe(false);
  });

  it("filters a list by queue and tag", () => {
    expect(taskRunQuerySchema.parse({ queue: "mail", tag: "eu" })).toEqual({ queue: "mail", tag: "eu" });
  });
});
