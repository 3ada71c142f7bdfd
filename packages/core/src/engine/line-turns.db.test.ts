/** A slot that goes on with who is next on the same resource: what is recorded, begun and told, and for how long. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { FAILURE } from "../../test/acts.ts";
import { openFixture } from "../../test/fixture.ts";
import { orders, standInLine, wakesIn } from "../../test/lines.ts";
import { holdersIn, parkingIn } from "../../test/look.ts";
import { runFirst, silent, type TurningWorker, version } from "../../test/turning-worker.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { Claim } from "../store/task-runs/claim.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const running = async (...specs: readonly TaskSpec[]) => await runFirst(box, specs);

const settledIds = ({ events }: Pick<TurningWorker, "events">): readonly TaskRunId[] =>
  events.flatMap((event) => (event.type === "task_run.settled" ? [event.taskRunId] : []));
const batches = async (): Promise<readonly unknown[]> =>
  await box.query(
    "SELECT claim_no::integer, instance_id, request_no, task_run_ids FROM signalbox.claim_batch ORDER BY claim_no",
  );

describe("a slot goes on", () => {
  it("with the next version, in the same statement, and the one after that waits for it", async () => {
    const { scheduler, worker, claimNo, ids } = await running(version(1), version(2), version(3));
    const [first, second, third] = ids;
    worker.end();

    const pass = await worker.settleOnce();

    expect(pass).toEqual({ left: 0, freesSlots: false, letGo: false, opensGates: false, handsOff: false });
    expect(worker.sent).toEqual(["goOnInLines"]);
    expect(await scheduler.get(first)).toMatchObject({ status: "DONE", outcome: "SUCCEEDED", rowVersion: 4 });
    expect(worker.begun.map(({ taskRunId }) => taskRunId)).toEqual([second]);
    const begunNo = worker.begun[0]?.claimNo ?? 0;
    expect(begunNo).toBeGreaterThan(claimNo);
    expect(await scheduler.get(second ?? "")).toMatchObject({
      status: "RUNNING",
      claimedBy: worker.instanceId,
      rowVersion: 3,
      waitedMs: { VERSION_ORDER: expect.any(Number) },
    });
    expect(await batches()).toEqual([
      { claim_no: begunNo, instance_id: worker.instanceId, request_no: 2, task_run_ids: [second] },
    ]);
    expect(await holdersIn(box, "resource:orders")).toEqual([second]);
    expect(await parkingIn(box, third ?? "")).toBe("VERSION_ORDER orders");
    expect(await wakesIn(box)).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
    expect(await box.query("SELECT task_run_id FROM signalbox.waiting")).toEqual([{ task_run_id: third }]);
    expect(await box.query("SELECT name, version FROM signalbox.done_version")).toEqual([
      { name: "orders", version: ["1"] },
    ]);
  });

  it("at the instant at which the other ends: the resource is never with both and never with nobody", async () => {
    const { worker, ids, second } = await running(version(1), version(2));
    worker.end();

    await worker.settleOnce();

    const [stays] = await box.query<{ same: boolean }>(
      `SELECT a.finished_at = b.available_at AND b.available_at = b.claimed_at AND b.claimed_at = h.since AS same
         FROM signalbox.task_run AS a, signalbox.task_run AS b, signalbox.hold AS h
        WHERE a.id = $1 AND b.id = $2`,
      [ids[0], second],
    );
    expect(stays).toEqual({ same: true });
  });

  it("through to the end of the line, where the last slot is given back", async () => {
    const { scheduler, worker, ids } = await running(version(1), version(2), version(3));

    for (const _ of ids) {
      worker.end();
      await worker.settleOnce();
    }

    expect(settledIds(worker)).toEqual(ids);
    expect(await Promise.all(ids.map(box.statusOf))).toEqual(["DONE", "DONE", "DONE"]);
    expect(worker.held.all()).toEqual([]);
    expect(worker.held.freeSlots(50)).toBe(50);
    for (const table of ["hold", "claim_batch", "open_version", "line", "waiting"])
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    expect(await box.query("SELECT name, version FROM signalbox.done_version")).toEqual([
      { name: "orders", version: ["3"] },
    ]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("with the most urgent in a line without versions", async () => {
    const { scheduler, worker, ids } = await running(
      silent.task(1, { resources: orders, priority: 0 }),
      silent.task(2, { resources: orders }),
      silent.task(3, { resources: orders, priority: 1 }),
    );
    const [, later, urgent] = ids;
    worker.end();

    await worker.settleOnce();

    expect(worker.begun.map(({ taskRunId }) => taskRunId)).toEqual([urgent]);
    expect(await holdersIn(box, "resource:orders")).toEqual([urgent]);
    expect(await parkingIn(box, later ?? "")).toBe("RESOURCE_BUSY orders");
    expect((await scheduler.get(urgent ?? "")).waitedMs).toHaveProperty("RESOURCE_BUSY");
    expect(await wakesIn(box)).toEqual([]);
    worker.end();
    await worker.settleOnce();
    worker.end();
    await worker.settleOnce();
    expect(settledIds(worker)).toEqual([ids[0], urgent, later]);
    expect(await box.query("SELECT FROM signalbox.line")).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("and tells of it as settled, and then of the other as promoted", async () => {
    const { worker, ids, second } = await running(version(1), version(2));
    worker.end();

    await worker.settleOnce();

    expect(worker.events).toMatchObject([
      { type: "task_run.settled", taskRunId: ids[0], status: "DONE", outcome: "SUCCEEDED", message: null },
      { type: "task_run.promoted", taskRunIds: [second] },
    ]);
  });

  it("and what comes with it counts as taken all the time, and as answered", async () => {
    const { worker, ids, second } = await running(version(1), version(2));
    worker.end();

    await worker.settleOnce();

    expect([worker.held.freeSlots(50), worker.held.executing]).toEqual([49, 1]);
    expect([worker.held.get(ids[0]), worker.held.get(second)?.ended]).toEqual([undefined, false]);
    expect([worker.held.isOnItsWay(2), worker.held.wasAnswered(2)]).toEqual([false, true]);
    expect(await worker.reconcile()).toBe(0);
  });

  it("below a version that is DONE, which stays the largest", async () => {
    const former = await box.scheduler({ tasks: [silent] });
    await former.enqueue(version(5));
    await former.runUntilIdle();
    const { worker, second } = await running(version(1, { outOfOrder: true }), version(7));
    worker.end();

    await worker.settleOnce();

    expect(worker.begun.map(({ taskRunId }) => taskRunId)).toEqual([second]);
    expect(await box.query("SELECT version FROM signalbox.done_version")).toEqual([{ version: ["5"] }]);
  });
});

describe("who goes on", () => {
  const COUNTS = "UPDATE signalbox.task_run SET attempt = 4, interruptions = 1, deferrals = 2 WHERE id = $1";

  it.each([
    ["the first time", null],
    ["again", COUNTS],
  ])("carries what a claim of it would have carried, %s", async (_, change) => {
    const spec = (resource: string): TaskSpec =>
      silent.task(
        { a: ["it's"] },
        { resources: [exclusive(resource)], version: "2", title: "Copy", retry: { attempts: 7 } },
      );
    const { scheduler, worker, second } = await running(version(1), spec("orders"));
    const claimed = await scheduler.enqueue(spec("users"));
    for (const id of change === null ? [] : [second, claimed.taskRunId]) await box.query(COUNTS, [id]);
    await scheduler.promote();
    worker.end();
    await worker.settleOnce();
    const [begun] = worker.begun;
    const [ordinary] = await worker.claim();

    const { taskRunId, taskId, claimNo, waitedMs, availableMs, ...rest } = begun as Claim;

    expect(ordinary).toMatchObject(rest);
    expect(Object.keys(ordinary ?? {}).toSorted()).toEqual(Object.keys(begun ?? {}).toSorted());
    expect(rest).toMatchObject({ gated: true, runId: null, kind: "silent", title: "Copy", job: null });
    expect([taskRunId, taskId, availableMs]).toEqual([second, (await scheduler.get(second)).taskId, 0]);
    expect(waitedMs).toBeGreaterThan(0);
    expect(waitedMs).toBeLessThan(60_000);
    expect(claimNo).toBeLessThan(ordinary?.claimNo ?? 0);
  });

  it("has one number for all that go on at once, and a batch by that", async () => {
    const specs = ["orders", "users"].flatMap((name) =>
      [1, 2].map((no) => version(no, { resources: [exclusive(name)] })),
    );
    const { worker, claimNo } = await running(...specs);
    worker.end();

    await worker.settleOnce();

    const numbers = "SELECT DISTINCT claim_no::integer FROM signalbox.task_run WHERE status = 'RUNNING'";
    expect(await box.query(numbers)).toEqual([{ claim_no: worker.begun[0]?.claimNo }]);
    const taskRunIds = worker.begun.map(({ taskRunId }) => taskRunId);
    expect(taskRunIds).toHaveLength(2);
    expect(await batches()).toEqual([
      {
        claim_no: worker.begun[0]?.claimNo,
        instance_id: worker.instanceId,
        request_no: 2,
        task_run_ids: expect.arrayContaining(taskRunIds),
      },
    ]);
    expect(worker.begun[0]?.claimNo).toBeGreaterThan(claimNo);
  });
});

describe("of what ends together", () => {
  const users = [exclusive("users")];

  it("those that nobody comes after are settled by the same pass, each once", async () => {
    const { scheduler, worker, ids } = await running(
      version(1),
      version(2),
      version(1, { resources: users }),
      silent.task(null),
    );
    const [first, second, alone, ungated] = ids;
    worker.end();

    const pass = await worker.settleOnce();

    expect(pass).toMatchObject({ left: 0, freesSlots: true });
    expect(await Promise.all(ids.map(box.statusOf))).toEqual(["DONE", "RUNNING", "DONE", "DONE"]);
    expect(settledIds(worker)).toHaveLength(3);
    expect(new Set(settledIds(worker))).toEqual(new Set([first, alone, ungated]));
    expect(worker.events.some(({ type }) => type === "task_run.refused")).toBe(false);
    expect(await batches()).toMatchObject([{ task_run_ids: [second] }]);
    expect(worker.held.all().map(({ claim }) => claim.taskRunId)).toEqual([second]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("those that do not go on can be found until they are settled", async () => {
    const { worker, ids } = await running(version(1), version(2), version(1, { resources: users }));

    const { ended } = await worker.goOn();

    expect(ended).toEqual([ids[0]]);
    expect(await batches()).toMatchObject([{ task_run_ids: expect.arrayContaining([ids[2]]) }, {}]);
  });

  it("the last of a claim of which others have ended before take the batch with them", async () => {
    const { worker, ids } = await running(version(1), version(2), version(1, { resources: users }));
    worker.end(FAILURE, [ids[2]]);
    await worker.settleOnce();
    expect(await batches()).toHaveLength(1);

    worker.end();
    await worker.settleOnce();

    expect(await batches()).toMatchObject([{ task_run_ids: [ids[1]] }]);
  });

  it("only those of one claim go on; the others are settled as ever, with a hand-off", async () => {
    const { scheduler, worker, ids } = await running(version(1), version(2));
    const [other, heir] = await standInLine(
      box,
      scheduler,
      ...[1, 2].map((no) => version(no, { resources: users })),
    );
    await worker.claim();
    worker.end();

    const pass = await worker.settleOnce();

    expect(pass).toMatchObject({ left: 0, freesSlots: true, handsOff: true });
    expect(worker.sent.filter((name) => name === "goOnInLines")).toHaveLength(1);
    expect(await Promise.all([...ids, other, heir ?? ""].map(box.statusOf))).toEqual([
      "DONE",
      "RUNNING",
      "DONE",
      "AVAILABLE",
    ]);
    expect(settledIds(worker).toSorted()).toEqual([ids[0], other].toSorted());
    expect(await batches()).toMatchObject([{ task_run_ids: [ids[1]] }]);
  });
});
