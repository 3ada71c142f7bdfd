/** How long a slot goes on, how often it is asked for, and what becomes of an answer that comes too late or never. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { openFixture } from "../../test/fixture.ts";
import { standInLine, wakesIn } from "../../test/lines.ts";
import { runFirst, SILENCE, silent, type Turning, version } from "../../test/turning-worker.ts";
import { waitUntil } from "../../test/wait-until.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { createScheduler } from "./scheduler.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const running = async (...specs: readonly TaskSpec[]) => await runFirst(box, specs);

/** A line of its own for each: nobody comes after them. */
const alone = (count: number): readonly TaskSpec[] =>
  Array.from({ length: count }, (_, n) => silent.task(n, { resources: [exclusive(`alone ${n}`)] }));

describe("the turn of a line", () => {
  it("ends, and then the slot is given back and who is next is handed the resource", async () => {
    const { worker, second } = await runFirst(box, [version(1), version(2)], {
      turnEndsAtMs: monotonicMs(),
    });
    worker.end();

    const pass = await worker.settleOnce();

    expect(worker.sent).not.toContain("goOnInLines");
    expect(pass).toMatchObject({ freesSlots: true, handsOff: true });
    expect(await box.statusOf(second)).toBe("AVAILABLE");
  });

  it("does not begin anew with who goes on", async () => {
    const turnEndsAtMs = monotonicMs() + 3_600_000;
    const { worker } = await runFirst(box, [version(1), version(2)], { turnEndsAtMs });
    worker.end();

    await worker.settleOnce();

    expect(worker.held.turnEndsAtMs(worker.begun[0]?.claimNo ?? 0)).toBe(turnEndsAtMs);
  });
});

describe("asked in vain", () => {
  /** Which settlements, from the first on, asked for who is next. */
  async function askedBy({ worker }: Pick<Turning, "worker">, ids: readonly TaskRunId[]): Promise<number[]> {
    const asked: number[] = [];
    for (const [index, id] of ids.entries()) {
      worker.end(SILENCE, [id]);
      const before = worker.sent.length;
      await worker.settleOnce();
      if (worker.sent.slice(before).includes("goOnInLines")) asked.push(index + 1);
    }
    return asked;
  }

  it("it leaves out twice as many settlements each time, and never more than 15", async () => {
    const turning = await running(...alone(48));

    expect(await askedBy(turning, turning.ids)).toEqual([1, 3, 7, 15, 31, 47]);
    expect(await box.query("SELECT FROM signalbox.task_run WHERE status <> 'DONE'")).toEqual([]);
  });

  it("it begins anew once somebody goes on", async () => {
    const turning = await running(...alone(6));
    const { scheduler, worker } = turning;
    const line = await standInLine(box, scheduler, ...[1, 2, 3, 4].map((no) => version(no)));
    await worker.claim();

    expect(await askedBy(turning, [...turning.ids, ...line])).toEqual([1, 3, 7, 8, 9, 10]);
    expect(await askedBy(turning, await lonely(turning))).toEqual([2]);
  });

  /** Two more that nobody comes after. */
  async function lonely({ scheduler, worker }: Turning): Promise<readonly TaskRunId[]> {
    await standInLine(box, scheduler, ...alone(2));
    return (await worker.claim()).map(({ taskRunId }) => taskRunId);
  }

  it("it does not count what there was nothing to ask for", async () => {
    const turning = await running(silent.task(1), silent.task(2), ...alone(2));

    expect(await askedBy(turning, turning.ids)).toEqual([3]);
  });
});

describe("an answer", () => {
  async function expectHandedBack({ worker, ids, second, scheduler }: Turning): Promise<void> {
    expect(worker.begun).toEqual([]);
    expect([await box.statusOf(ids[0]), await box.statusOf(second)]).toEqual(["DONE", "PENDING"]);
    expect(worker.events.filter(({ type }) => type === "task_run.settled")).toMatchObject([
      { taskRunId: ids[0], status: "DONE" },
    ]);
    expect(worker.held.all()).toEqual([]);
    expect(worker.held.freeSlots(50)).toBe(50);
    expect([worker.held.isOnItsWay(2), worker.held.wasAnswered(2)]).toEqual([false, false]);
    expect(await wakesIn(box)).toContain("resource:orders");
    await scheduler.runUntilIdle();
    expect(await scheduler.get(second)).toMatchObject({ status: "DONE", attempt: 1 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  }

  it("that comes when the lease is not trusted any more begins nothing: they go back unharmed", async () => {
    const turning = await running(version(1), version(2));
    turning.worker.end();
    turning.worker.isTrusted = false;

    expect(await turning.worker.settleOnce()).toMatchObject({ left: 0, freesSlots: true, opensGates: true });

    await expectHandedBack(turning);
  });

  it("that comes while the instance leaves begins nothing: they go back unharmed", async () => {
    const turning = await running(version(1), version(2));
    const { worker, pool } = turning;
    const pause = pool.pauseBefore("COMMIT");
    worker.end();
    const settled = worker.settleOnce();
    await pause.reached;

    worker.mayClaim = false;
    pause.resume();

    expect(await settled).toMatchObject({ left: 0, freesSlots: true, opensGates: true });
    await expectHandedBack(turning);
  });

  it("whose hand-back fails too is no failure of the settlement: reconcile hands them back", async () => {
    const turning = await running(version(1), version(2));
    const { worker, pool } = turning;
    const pause = pool.pauseBefore("handBackTaskRuns");
    worker.end();
    worker.isTrusted = false;
    const settled = worker.settleOnce();
    await pause.reached;
    await box.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database()",
    );
    pause.resume();
    await expect(settled).resolves.toMatchObject({ left: 0 });
    expect(await box.statusOf(turning.second)).toBe("RUNNING");

    expect(await worker.reconcile()).toBe(1);

    await expectHandedBack(turning);
  });

  it("that is lost: the end is recorded and told once, and reconcile hands back what was begun", async () => {
    const proxy = await openFaultProxy(box.db.url);
    const turning = await runFirst(box, [version(1), version(2)], { url: proxy.url });
    const { worker } = turning;
    worker.end();
    const cut = proxy.cutAfterCommit();

    await expect(worker.settleOnce()).rejects.toThrow(/terminated/);
    await cut;
    expect([await box.statusOf(turning.ids[0]), await box.statusOf(turning.second)]).toEqual([
      "DONE",
      "RUNNING",
    ]);
    expect(await worker.settleOnce()).toMatchObject({ left: 0, freesSlots: true });
    expect(await worker.reconcile()).toBe(1);

    await expectHandedBack(turning);
    await proxy.close();
  });

  it("is not asked for while the instance may not claim", async () => {
    const { worker, second } = await running(version(1), version(2));
    worker.mayClaim = false;
    worker.end();

    await worker.settleOnce();

    expect(worker.sent).not.toContain("goOnInLines");
    expect(await box.statusOf(second)).toBe("AVAILABLE");
  });
});

describe("an instance with its loops", () => {
  const LINES = [0, 1, 2, 3];
  const VERSIONS = [1, 2, 3, 4, 5, 6];

  async function runLines(): Promise<{ events: SchedulerEvent[]; lines: readonly TaskRunId[][] }> {
    const events: SchedulerEvent[] = [];
    const scheduler = await box.scheduler({ tasks: [silent] });
    const lines: TaskRunId[][] = [];
    for (const name of LINES) {
      const specs = VERSIONS.map((no) => version(no, { resources: [exclusive(`line ${name}`)] }));
      const { taskRuns } = await scheduler.enqueueMany(specs);
      lines.push(taskRuns.map(({ taskRunId }) => taskRunId));
    }
    const worker = createScheduler({
      databaseUrl: box.db.url,
      tasks: [silent],
      slots: 2,
      onEvent: (event) => events.push(event),
    });
    await worker.start();
    const open = "SELECT FROM signalbox.task_run WHERE status <> 'DONE'";
    await waitUntil("all are DONE", async () => (await box.query(open)).length === 0);
    await worker.stop();
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
    return { events, lines };
  }

  it("never runs more than it has slots, and goes on in them", async () => {
    await runLines();

    const [most] = await box.query<{ most: number; wentOn: number }>(
      `SELECT max(s.running)::integer AS most, count(*) FILTER (WHERE s.went_on)::integer AS "wentOn"
         FROM (SELECT (SELECT count(*) FROM signalbox.task_run AS o
                        WHERE o.claimed_at <= t.claimed_at AND o.finished_at > t.claimed_at) AS running,
                      EXISTS (SELECT FROM signalbox.task_run AS o WHERE o.finished_at = t.claimed_at) AS went_on
                 FROM signalbox.task_run AS t) AS s`,
    );
    expect(most?.most).toBeLessThanOrEqual(2);
    expect(most?.wentOn).toBeGreaterThan(0);
  });

  it("tells that one is settled, then that the next is promoted, then that it is claimed", async () => {
    const { events, lines } = await runLines();

    const places = lines.flatMap((ids) =>
      ids
        .slice(1)
        .map((id, index) => [
          events.findIndex((event) => event.type === "task_run.settled" && event.taskRunId === ids[index]),
          events.findIndex(
            (event) => event.type === "task_run.promoted" && event.taskRunIds.includes(id as TaskRunId),
          ),
          events.findIndex((event) => event.type === "task_run.claimed" && event.taskRunId === id),
        ]),
    );
    expect(places).toHaveLength(LINES.length * (VERSIONS.length - 1));
    for (const place of places) expect(place).toEqual(place.toSorted((a, b) => a - b));
    const claimed = events.filter(({ type }) => type === "task_run.claimed");
    expect(claimed).toHaveLength(LINES.length * VERSIONS.length);
  });
});
