/** Where a slot does not go on with who is next: the guards of a hand-off and those of a claim, each by itself. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { FAILURE } from "../../test/acts.ts";
import { openFixture } from "../../test/fixture.ts";
import { LEFT_TO_A_PASS, next, orders, standInLine, wakesIn } from "../../test/lines.ts";
import { holdersIn, parkingIn } from "../../test/look.ts";
import { joinAndTurn, runFirst, SILENCE, silent, type Turning, version } from "../../test/turning-worker.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { Ending } from "../domain/settlement.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { markDraining } from "../store/instances/instance.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const running = async (...specs: readonly TaskSpec[]) => await runFirst(box, specs);
const NOBODY = { ended: [], claims: [] };

async function expectNobody({ worker, ids: [first] }: Pick<Turning, "worker" | "ids">): Promise<void> {
  expect(await worker.goOn()).toEqual(NOBODY);
  expect(await box.statusOf(first)).toBe("RUNNING");
}

/** As ever, by the same pass that asked in vain. */
async function settle({ worker, ids: [first] }: Pick<Turning, "worker" | "ids">): Promise<void> {
  worker.end();
  await worker.settleOnce();
  expect(worker.sent[0]).toBe("goOnInLines");
  expect(worker.begun).toEqual([]);
  expect(await box.statusOf(first)).toBe("DONE");
}

describe("nobody goes on where the next one", () => {
  it.each(Object.keys(LEFT_TO_A_PASS))("%s: one thing is enough", async (name) => {
    const { specs = [next()], before, meanwhile } = LEFT_TO_A_PASS[name] ?? {};
    await before?.(await box.scheduler());
    const turning = await running(version(1, { priority: 0 }), ...specs);
    await meanwhile?.(turning.scheduler, turning.second);

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("PENDING");
    expect(await holdersIn(box, "resource:orders")).toEqual([]);
    expect(await wakesIn(box)).toContain("resource:orders");
  });

  it("belongs to a run and needs a slot of it", async () => {
    const turning = await running(version(1));
    const { taskRuns } = await turning.scheduler.enqueueMany([next()], { run: { title: "run", limit: 1 } });
    await turning.scheduler.promote();

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
  });

  it("is of a kind that this instance does not run, though another does: it is handed to that one", async () => {
    const turning = await runFirst(box, [version(1), next()], { kinds: ["silent"] });

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("AVAILABLE");
  });

  it("is below a version that is DONE, also where it may be", async () => {
    const former = await box.scheduler({ tasks: [silent] });
    await former.enqueue(version(5));
    await former.runUntilIdle();
    const turning = await running(version(1, { outOfOrder: true }), version(2, { outOfOrder: true }));
    expect(await parkingIn(box, turning.second)).toBe("VERSION_ORDER orders");

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("PENDING");
  });

  it("stands in line and the one that ends has a version: it is handed on", async () => {
    const turning = await running(version(1), silent.task(2, { resources: orders }));

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("AVAILABLE");
  });

  it("stands in line with a version, behind one without", async () => {
    const turning = await running(silent.task(1, { resources: orders }), version(1));
    expect(await parkingIn(box, turning.second)).toBe("RESOURCE_BUSY orders");

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("PENDING");
  });

  it("is the first in line, behind one without a version, while another waits for a version", async () => {
    const far = new Date(Date.now() + 3_600_000);
    const turning = await running(
      silent.task(1, { resources: orders, priority: 0 }),
      silent.task(2, { resources: orders }),
      version(1, { runAt: far }),
      version(2),
    );
    expect(await parkingIn(box, turning.ids[3] ?? "")).toBe("VERSION_ORDER orders");

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("PENDING");
  });

  it("is parked elsewhere, and stands in line only by the word of the line", async () => {
    const turning = await running(...[1, 2].map((no) => silent.task(no, { resources: orders })));
    await box.query("UPDATE signalbox.waiting SET blocked_on = 'PAUSED' WHERE task_run_id = $1", [
      turning.second,
    ]);

    await expectNobody(turning);
  });

  it("only waits by the word of the work set", async () => {
    const turning = await running(version(1), version(2));
    await box.query(
      "UPDATE signalbox.task_run SET status = 'CANCELED', outcome = 'CANCELED', finished_at = now() WHERE id = $1",
      [turning.second],
    );

    await expectNobody(turning);
  });
});

describe("nobody goes on where the one that ends", () => {
  it.each<[string, TaskSpec]>([
    ["holds another resource too", version(1, { resources: [...orders, exclusive("users")] })],
    ["holds a slot of a key too", version(1, { concurrencyKey: "customer" })],
    ["holds a slot of a queue too", version(1, { queue: "slow" })],
    ["shares the resource", version(1, { resources: [shared("orders")] })],
  ])("%s: there is more than one thing to give back", async (_, spec) => {
    await (await box.scheduler()).setQueue("slow", { limit: 5 });
    const turning = await running(spec, version(2));

    await expectNobody(turning);
    await settle(turning);

    expect(await box.query("SELECT scope FROM signalbox.hold")).not.toContainEqual({
      scope: expect.stringMatching(/^(?:key|queue|resource:users)/),
    });
  });

  it("shares the resource with another, and who is next wants it alone", async () => {
    const sharing = silent.task(1, { resources: [shared("orders")], priority: 0 });
    const turning = await running(sharing, silent.task(2, { resources: orders }), sharing);

    await expectNobody(turning);
    await settle(turning);

    expect(await box.statusOf(turning.second)).toBe("PENDING");
  });

  it("holds a slot of a key that only ends like the name of a resource", async () => {
    const { scheduler, worker } = await running(silent.task(1, { concurrencyKey: "12345orders" }));
    expect(await box.query("SELECT scope, slot FROM signalbox.hold")).toEqual([
      { scope: "key:12345orders", slot: 0 },
    ]);
    await standInLine(box, scheduler, ...[1, 2].map((no) => silent.task(no, { resources: orders })));

    expect(await worker.goOn()).toEqual(NOBODY);
  });

  it("is reserved since a loss: a pass decides", async () => {
    const doomed = await box.scheduler({ tasks: [silent], name: "doomed" });
    const [, second] = await standInLine(box, doomed, version(1), version(2));
    await doomed.claim();
    await doomed.expireLease();
    await doomed.rescue();
    const worker = await joinAndTurn(box.pool("worker"));
    await doomed.promote();
    const [claim] = await worker.claim();

    await expectNobody({ worker, ids: [claim?.taskRunId as TaskRunId] });
    await settle({ worker, ids: [claim?.taskRunId as TaskRunId] });

    expect(await box.statusOf(second ?? "")).toBe("PENDING");
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
  });

  it.each([
    ["is of a run", "UPDATE signalbox.task_run SET run_id = gen_random_uuid() WHERE id = $1"],
    ["is ungated", "UPDATE signalbox.task_run SET gated = false WHERE id = $1"],
  ])("%s by the word of the database", async (_, change) => {
    const turning = await running(version(1), version(2));
    await box.query(change, [turning.ids[0]]);

    await expectNobody(turning);
  });

  it("is not RUNNING any more", async () => {
    const { worker, ids, second } = await running(version(1), version(2));
    await box.query(
      "UPDATE signalbox.task_run SET status = 'FAILED', outcome = 'LEASE_LOST', finished_at = now() WHERE id = $1",
      [ids[0]],
    );

    expect(await worker.goOn()).toEqual(NOBODY);
    expect(await box.statusOf(second)).toBe("PENDING");
  });

  it("was claimed under another number", async () => {
    const { worker, claimNo, second } = await running(version(1), version(2));

    expect(await worker.goOn({ claimNo: claimNo + 1 })).toEqual(NOBODY);
    expect(await box.statusOf(second)).toBe("PENDING");
  });

  it("was claimed by another instance", async () => {
    const { worker, second } = await running(version(1), version(2));
    const { instanceId } = await joinAndTurn(box.pool("other"));

    expect(await worker.goOn({ instanceId })).toEqual(NOBODY);
    expect(await box.statusOf(second)).toBe("PENDING");
  });
});

describe("nobody is asked for where the one that ends", () => {
  async function expectUnasked({ worker, ids }: Turning, outcome: Ending): Promise<void> {
    worker.end(outcome, [ids[0]]);
    await worker.settleOnce();

    expect(worker.sent).not.toContain("goOnInLines");
    expect(worker.begun).toEqual([]);
    expect(await box.statusOf(ids[0])).not.toBe("RUNNING");
  }

  it("failed: there is more to say of it", async () => {
    const turning = await running(version(1), version(2));

    await expectUnasked(turning, FAILURE);

    expect(await box.statusOf(turning.ids[0])).toBe("FAILED");
  });

  it("is ungated: it is in no line", async () => {
    await expectUnasked(await running(silent.task(1)), SILENCE);
  });

  it("may have gone on outside, and leaves something to clear away", async () => {
    const turning = await running(version(1), version(2));
    for (const held of turning.worker.held.all()) held.handle = "unsure";

    await expectUnasked(turning, SILENCE);
  });

  it("is of a run, which counts it", async () => {
    const scheduler = await box.scheduler({ tasks: [silent] });
    const worker = await joinAndTurn(box.pool("worker"));
    const { runId } = await scheduler.enqueueMany([version(1)], { run: { title: "run" } });
    await scheduler.promote();
    await scheduler.enqueue(version(2));
    await scheduler.promote();
    const [claim] = await worker.claim();
    worker.end();

    await worker.settleOnce();

    expect(worker.sent).not.toContain("goOnInLines");
    expect(await box.statusOf(claim?.taskRunId ?? "")).toBe("DONE");
    expect(await scheduler.getRun(runId ?? ("" as never))).toMatchObject({ status: "DONE" });
  });
});

describe("nobody goes on in an instance that", () => {
  it.each([
    ["is DEAD", "UPDATE signalbox.instance SET state = 'DEAD'"],
    ["is unknown", "DELETE FROM signalbox.instance"],
    ["is of another timeline", "UPDATE signalbox.instance SET timeline = timeline - 1"],
    ["has no lease any more", "UPDATE signalbox.instance SET expires_at = now() - interval '1 ms'"],
  ])("%s: it may not claim", async (_, change) => {
    const turning = await running(version(1), version(2));
    await box.query(change);

    await expectNobody(turning);
  });

  it("drains: it takes nothing new", async () => {
    const turning = await running(version(1), version(2));
    const { worker, pool } = turning;
    await pool.transaction(async (tx) => await markDraining(tx, worker.instanceId));

    await expectNobody(turning);
  });
});
