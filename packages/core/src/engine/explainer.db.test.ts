import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { Explanation, GateReport } from "../domain/explanation.ts";
import { GATE_CODES } from "../domain/gates/gates.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { WaitingCode } from "../domain/waiting-cause.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

function gate(explanation: Explanation, code: WaitingCode): GateReport | undefined {
  return explanation.gates.find((report) => report.code === code);
}
function states(explanation: Explanation): Record<string, string> {
  return Object.fromEntries(explanation.gates.map(({ code, state }) => [code, state]));
}

describe("a PENDING task run", () => {
  it("is told about every gate, in the order in which they park: blocking, passed or none of its business", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(0, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    const { taskRunId } = await scheduler.enqueue(
      echo.task(1, { runAt: new Date("2090-01-01"), resources: [exclusive("orders")], version: "1" }),
    );

    const explanation = await scheduler.explain(taskRunId);

    expect(states(explanation)).toEqual({
      RUN_AT: "blocking",
      STOPPED: "not_applicable",
      PAUSED: "passed",
      NO_EXECUTOR: "passed",
      WINDOW: "not_applicable",
      OUT_OF_ORDER: "passed",
      VERSION_ORDER: "passed",
      RUN_LIMIT: "not_applicable",
      QUEUE_LIMIT: "not_applicable",
      KEY_LIMIT: "not_applicable",
      FAIR_SHARE: "not_applicable",
      RATE_LIMIT: "not_applicable",
      RESOURCE_BUSY: "blocking",
    });
    expect(Object.keys(states(explanation))).toEqual(GATE_CODES);
    expect(explanation).toMatchObject({
      status: "PENDING",
      blockedOn: "RUN_AT",
      claimableBy: [],
      claimedBy: null,
    });
    expect(explanation.computedAt.getTime()).toBeGreaterThanOrEqual(explanation.since.getTime());
  });

  it("at RUN_AT is told when it can go at the earliest", async () => {
    const scheduler = await box.scheduler();
    const runAt = new Date("2090-01-01T12:34:56.789Z");
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { runAt }));

    expect(gate(await scheduler.explain(taskRunId), "RUN_AT")?.causes).toEqual([
      { cause: { code: "RUN_AT", runAt }, blockers: [], position: null, lineLength: null, earliestAt: runAt },
    ]);
  });

  it("at VERSION_ORDER is told which version is open, and what became of it", async () => {
    const scheduler = await box.scheduler({ name: "worker-1" });
    const resources = [shared("orders")];
    const smaller = await scheduler.enqueue(echo.task(1, { resources, version: "1.9", title: "Add column" }));
    const { taskRunId } = await scheduler.enqueue(echo.task(2, { resources, version: "1.10" }));
    await scheduler.promote();
    await scheduler.claim();

    const explanation = await scheduler.explain(taskRunId);

    expect(gate(explanation, "VERSION_ORDER")).toMatchObject({
      state: "blocking",
      causes: [
        {
          cause: { resource: "orders", version: "1.10", blocker: smaller.taskRunId, blockerVersion: "1.9" },
          blockers: [
            {
              taskRunId: smaller.taskRunId,
              taskId: smaller.taskId,
              title: "Add column",
              status: "RUNNING",
              instanceName: "worker-1",
              since: (await scheduler.get(smaller.taskRunId)).claimedAt,
            },
          ],
        },
      ],
    });
    expect(explanation).toMatchObject({ blockedOn: "VERSION_ORDER", blockedSince: expect.any(Date) });
  });

  it("at RUN_LIMIT is told the limit, who takes up the slots, and its place", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany(
      [1, 2, 3, 4].map((number) => echo.task(number)),
      { run: { title: "nightly", limit: 2 } },
    );
    await scheduler.promote();

    expect(gate(await scheduler.explain(taskRuns[3]?.taskRunId ?? ""), "RUN_LIMIT")?.causes).toMatchObject([
      {
        cause: { code: "RUN_LIMIT", runId, limit: 2, active: 2 },
        blockers: [
          { taskRunId: taskRuns[0]?.taskRunId, status: "AVAILABLE", instanceName: null },
          { taskRunId: taskRuns[1]?.taskRunId },
        ],
        position: 2,
        lineLength: 2,
      },
    ]);
  });

  it("at RESOURCE_BUSY is told for each busy resource who has it, and its place in that line", async () => {
    const scheduler = await box.scheduler();
    const alone = await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));
    const sharer = await scheduler.enqueue(echo.task(2, { resources: [shared("b")] }));
    await scheduler.enqueue(echo.task(3, { resources: [exclusive("a")] }));
    const { taskRunId } = await scheduler.enqueue(
      echo.task(4, { resources: [shared("a"), exclusive("b"), shared("c")] }),
    );
    await scheduler.promote();

    expect(gate(await scheduler.explain(taskRunId), "RESOURCE_BUSY")?.causes).toMatchObject([
      {
        cause: { resource: "a", mode: "shared", because: "held", blockers: [alone.taskRunId] },
        blockers: [{ taskRunId: alone.taskRunId, status: "AVAILABLE" }],
        position: 2,
        lineLength: 2,
      },
      {
        cause: { resource: "b", mode: "exclusive", because: "held", blockers: [sharer.taskRunId] },
        position: 1,
        lineLength: 1,
      },
    ]);
  });

  it("behind somebody in line for a free resource is told who that is", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));
    const both = await scheduler.enqueue(echo.task(2, { resources: [exclusive("a"), exclusive("b")] }));
    const { taskRunId } = await scheduler.enqueue(echo.task(3, { resources: [exclusive("b")] }));
    await scheduler.promote();

    expect(gate(await scheduler.explain(taskRunId), "RESOURCE_BUSY")?.causes).toMatchObject([
      {
        cause: { resource: "b", because: "line", blockers: [both.taskRunId] },
        blockers: [{ taskRunId: both.taskRunId, status: "PENDING" }],
        position: 2,
        lineLength: 2,
      },
    ]);
  });

  it("at a resource that is kept after a loss is told for whom", async () => {
    const [doomed, scheduler] = [await box.scheduler(), await box.scheduler()];
    const lost = await doomed.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await doomed.promote();
    await doomed.claim();
    await doomed.expireLease();
    await scheduler.rescue();
    const { taskRunId } = await scheduler.enqueue(echo.task(2, { resources: [shared("orders")] }));

    const next = await scheduler.get(lost.taskId);
    expect(gate(await scheduler.explain(taskRunId), "RESOURCE_BUSY")?.causes).toMatchObject([
      {
        cause: { because: "reserved", reservedFor: lost.taskId, blockers: [] },
        blockers: [{ taskRunId: next.taskRunId, taskId: lost.taskId, status: "PENDING" }],
      },
    ]);
  });

  it("that no pass has looked at is told so, and what a pass would say", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    const { taskRunId } = await scheduler.enqueue(echo.task(2, { resources: [exclusive("orders")] }));

    const explanation = await scheduler.explain(taskRunId);

    expect(explanation).toMatchObject({ blockedOn: null, blockedSince: null });
    expect(gate(explanation, "RESOURCE_BUSY")).toMatchObject({
      state: "blocking",
      causes: [{ position: 1 }],
    });
  });
});

describe("a task run in another status", () => {
  it("AVAILABLE is told who could claim it, and how busy they are", async () => {
    const knower = await box.scheduler({ name: "knower", slots: 3 });
    await box.scheduler({ name: "stranger", tasks: [] });
    const expired = await box.scheduler({ name: "expired" });
    await expired.expireLease();
    await knower.enqueue(echo.task(1));
    await knower.claim();
    const { taskRunId } = await knower.enqueue(echo.task(2));

    expect(await knower.explain(taskRunId)).toMatchObject({
      status: "AVAILABLE",
      gates: [],
      claimableBy: [{ instanceId: knower.instanceId, name: "knower", slots: 3, running: 1, freeSlots: 2 }],
    });
  });

  it("RUNNING is told who has it, until when, and whether it was asked to stop", async () => {
    const scheduler = await box.scheduler({ name: "worker-1" });
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    await scheduler.cancel(taskRunId);
    const [instance] = (await scheduler.overview()).instances;

    expect(await scheduler.explain(taskRunId)).toMatchObject({
      status: "RUNNING",
      gates: [],
      claimableBy: [],
      claimedBy: { instanceId: scheduler.instanceId, name: "worker-1", leaseUntil: instance?.leaseUntil },
      cancelRequestedAt: expect.any(Date),
      since: (await scheduler.get(taskRunId)).claimedAt,
    });
  });

  it.each(["DONE", "FAILED", "CANCELED"])("%s is told how and when it ended", async (status) => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue({ kind: status === "FAILED" ? "broken" : "echo" });
    if (status === "CANCELED") await scheduler.cancel(taskRunId);
    await scheduler.runUntilIdle();
    const { outcome, finishedAt } = await scheduler.get(taskRunId);

    expect(await scheduler.explain(taskRunId)).toMatchObject({
      status,
      outcome,
      since: finishedAt,
      gates: [],
      claimableBy: [],
      claimedBy: null,
    });
  });

  it("is found by the id of its task, which means the newest attempt, and by a prefix", async () => {
    const scheduler = await box.scheduler();
    const retry = { attempts: 2, backoff: { firstMs: 60_000 } };
    const { taskId, taskRunId } = await scheduler.enqueue({ kind: "broken", retry });
    await scheduler.runUntilIdle();

    const gates = expect.arrayContaining([expect.objectContaining({ code: "RUN_AT", state: "blocking" })]);
    expect(await scheduler.explain(taskId)).toMatchObject({ attempt: 2, status: "PENDING", gates });
    expect(await scheduler.explain(taskId.toUpperCase())).toMatchObject({ attempt: 2, gates });
    expect(await scheduler.explain(taskRunId)).toMatchObject({ attempt: 1, status: "FAILED" });
    expect(await scheduler.explain(taskId.slice(0, 33))).toMatchObject({ attempt: 2 });
    await expect(scheduler.explain("00000000-0000-7000-8000-000000000000")).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
  });
});
