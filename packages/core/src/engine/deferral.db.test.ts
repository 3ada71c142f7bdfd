/** A task that asks for a later time goes back to PENDING, spends no attempt, and cannot do so for ever. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { asInstanceId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import { MAX_DEFERRALS } from "../domain/settlement.ts";
import { DeferError } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";
import { type DeferRequest, deferTaskRuns } from "../store/task-runs/defer.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const HOUR_MS = 3_600_000;
let later = HOUR_MS;
const busy = defineTask({
  kind: "busy",
  run: () => {
    throw new DeferError(later, "the target is locked");
  },
});

async function runOnce(scheduler: ManualScheduler): Promise<void> {
  await scheduler.promote();
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
}

describe("a deferral", () => {
  it("keeps what was printed before it, and the log goes on where it begins again", async () => {
    const talking = defineTask({
      kind: "talking",
      run: (_, { log }) => {
        log("The target is locked");
        throw new DeferError(0);
      },
    });
    const scheduler = await box.scheduler({ tasks: [talking] });
    const { taskRunId } = await scheduler.enqueue(talking.task(null));

    await runOnce(scheduler);
    await runOnce(scheduler);

    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    const { entries } = await scheduler.readLog(taskRunId);
    expect(entries.map(({ text }) => text)).toEqual(Array(2).fill("The target is locked\n"));
  });

  it("waits until then, by the database's clock, spends no attempt and gives back what it held", async () => {
    later = HOUR_MS;
    const scheduler = await box.scheduler({ tasks: [busy] });
    const { taskRunId } = await scheduler.enqueue(busy.task(null, { resources: [exclusive("orders")] }));

    await runOnce(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({
      attempt: 1,
      status: "PENDING",
      blockedOn: "RUN_AT",
      availableAt: null,
      claimedBy: null,
    });
    const left = await box.value<number>(
      "SELECT (extract(epoch FROM run_at - clock_timestamp()) * 1000)::float8 FROM signalbox.task_run",
    );
    expect(left).toBeGreaterThan(HOUR_MS - 60_000);
    expect(left).toBeLessThanOrEqual(HOUR_MS);
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
    expect(scheduler.held.all()).toEqual([]);
    expect(scheduler.events).toMatchObject([
      {
        type: "task_run.deferred",
        taskRunId,
        deferrals: 1,
        runInMs: HOUR_MS,
        reason: "the target is locked",
      },
    ]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("leaves an event with the stamps of the stay that it ends", async () => {
    later = HOUR_MS;
    const scheduler = await box.scheduler({ tasks: [busy] });
    const { taskRunId } = await scheduler.enqueue(busy.task(null));
    await scheduler.claim();
    const stay = await scheduler.get(taskRunId);
    await scheduler.execute();
    await scheduler.settle();

    expect(await box.query("SELECT type, data FROM signalbox.event_store")).toMatchObject([
      {
        type: "task_run.deferred",
        data: {
          from: "RUNNING",
          to: "PENDING",
          claimNo: stay.claimNo,
          claimedBy: scheduler.instanceId,
          deferrals: 1,
        },
      },
    ]);
    expect(await box.value("SELECT (data->>'claimedAt')::timestamptz FROM signalbox.event_store")).toEqual(
      stay.claimedAt,
    );
  });

  it("becomes CANCELED where a cancel was requested", async () => {
    const scheduler = await box.scheduler({ tasks: [busy] });
    const { taskRunId } = await scheduler.enqueue(busy.task(null, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    await scheduler.claim();
    expect(await scheduler.cancel(taskRunId)).toBe("canceling");

    await scheduler.execute();
    await scheduler.settle();

    const canceled = { status: "CANCELED", outcome: "CANCELED", error: null };
    expect(await scheduler.get(taskRunId)).toMatchObject(canceled);
    expect(scheduler.events).toMatchObject([{ type: "task_run.settled", status: "CANCELED" }]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is refused after so many: a task that never starts must not go on for ever", async () => {
    later = 0;
    const scheduler = await box.scheduler({ tasks: [busy] });
    const { taskRunId } = await scheduler.enqueue(busy.task(null, { retry: { attempts: 3 } }));
    await box.query("UPDATE signalbox.task_run SET deferrals = $1", [MAX_DEFERRALS - 1]);

    await runOnce(scheduler);
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    await runOnce(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "TOO_MANY_DEFERRALS" });
    expect(await box.query("SELECT FROM signalbox.task_run")).toHaveLength(1);
  });

  it("is not ours to write once the claim is another's", async () => {
    const [late, other] = [
      await box.scheduler({ tasks: [busy], name: "late" }),
      await box.scheduler({ tasks: [busy] }),
    ];
    const { taskRunId } = await late.enqueue(busy.task(null));
    await late.claim();
    await late.execute();
    // Handed back as if its answer had been lost, and claimed by another.
    loseAnswers(late.held);
    await late.reconcile();
    await other.promote();
    expect(await other.claim()).toEqual([taskRunId]);

    await late.settle();

    expect(await other.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: other.instanceId });
    expect(late.events.at(-1)).toMatchObject({ type: "task_run.refused", taskRunId });
  });

  it.each<[string, Partial<DeferRequest>]>([
    ["under another claim number", { claimNo: 0 }],
    ["in the name of another owner", { claimedBy: asInstanceId("00000000-0000-4000-8000-000000000000") }],
  ])("%s changes nothing", async (_, wrong) => {
    const scheduler = await box.scheduler({ tasks: [busy] });
    await scheduler.enqueue(busy.task(null));
    await scheduler.claim();
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing was claimed");
    const { taskRunId, claimNo } = held.claim;
    const right = { taskRunId, claimNo, claimedBy: scheduler.instanceId };
    const request = { ...right, delayMs: 0, reason: null, outside: false, ...wrong };

    const became = await box.pool("late").transaction(async (tx) => await deferTaskRuns(tx, [request]));

    expect([...became.keys()]).toEqual([]);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  });

  it("whose answer was lost is known by its event, and happens once", async () => {
    later = HOUR_MS;
    const scheduler = await box.scheduler({ tasks: [busy] });
    const { taskRunId } = await scheduler.enqueue(busy.task(null));
    await scheduler.claim();
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing was claimed");
    const events: unknown[] = [];
    const settler = createSettler({
      pool: box.pool("settler"),
      batchSize: 10,
      emit: (event) => events.push(event),
    });
    const deferral = { kind: "deferred", delayMs: 1_000, reason: null } as const;
    for (let time = 0; time < 2; time += 1) {
      settler.add(held.claim, scheduler.instanceId, deferral, scheduler.held);
      await settler.settleOnce();
    }

    expect(events).toMatchObject([{ type: "task_run.deferred" }, { type: "task_run.deferred" }]);
    expect(await box.value("SELECT deferrals FROM signalbox.task_run WHERE id = $1", [taskRunId])).toBe(1);
  });
});
