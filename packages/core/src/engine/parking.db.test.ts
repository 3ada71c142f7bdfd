/** Parking and waking: a pass looks at what is new, due or woken, and at nothing else. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function wakesLeft(): Promise<readonly string[]> {
  const rows = await box.query<{ key: string }>("SELECT DISTINCT key FROM signalbox.gate_wake ORDER BY key");
  return rows.map(({ key }) => key);
}

async function parking(): Promise<readonly unknown[]> {
  return await box.query(
    `SELECT task_run_id, blocked_on, blocked_key, blocked_since, xmin::text FROM signalbox.waiting ORDER BY task_run_id`,
  );
}

describe("a woken key", () => {
  it("is enough: the settlement that opens a gate names it, and one pass lets the next in", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    await scheduler.enqueue(echo.task(1, { resources, version: "1" }));
    // It shares what the first has alone: nothing is handed on.
    const next = await scheduler.enqueue(echo.task(2, { resources: [shared("orders")], version: "2" }));
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.execute();

    await scheduler.settle();

    expect(await wakesLeft()).toEqual(["resource:orders", "version:orders"]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    expect(await wakesLeft()).toEqual([]);
  });

  it("is not written again because of one that cannot be judged, for as long as it stands there", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    await scheduler.setRate("sms", { amount: 10, perMs: 1_000 });
    await scheduler.enqueue(echo.task(1, { resources }));
    const unjudged = await scheduler.enqueue(echo.task(2, { resources, rate: "sms" }));
    await scheduler.enqueue(echo.task(3, { resources }));
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    await box.query("DELETE FROM signalbox.rate");

    const pass = await scheduler.promote();

    expect(pass).toMatchObject({ promoted: [], more: false });
    expect(pass.kind === "passed" && [...pass.failed.keys()]).toEqual([unjudged.taskRunId]);
    expect(await wakesLeft()).toEqual([]);
  });

  it("is necessary: what is parked elsewhere is not looked at, though it could go", async () => {
    const scheduler = await box.scheduler();
    const holders = await scheduler.enqueueMany(
      ["a", "b"].map((name) => echo.task(name, { resources: [exclusive(name)] })),
    );
    const [onA, onB] = await Promise.all(
      ["a", "b"].map(
        async (name) => await scheduler.enqueue(echo.task(name, { resources: [exclusive(name)] })),
      ),
    );
    await scheduler.promote();
    for (const { taskRunId } of holders.taskRuns) await scheduler.cancel(taskRunId);
    await box.query("DELETE FROM signalbox.gate_wake WHERE key = 'resource:b'");

    expect(await scheduler.promote()).toMatchObject({ promoted: [onA?.taskRunId] });
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });

    // The slow sweep is the net under a wake that was lost.
    const swept = await promoteOnce({ pool: box.pool("sweeper"), batchSize: 100, sweepAfter: null });
    expect(swept).toMatchObject({ promoted: [onB?.taskRunId], sweptTo: null });
  });

  it("touches no row that stays where it is", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany(
      Array.from({ length: 20 }, () => echo.task(1, { resources: [exclusive("orders")] })),
    );
    await scheduler.promote();
    const before = await parking();

    await box.query("INSERT INTO signalbox.gate_wake (key) VALUES ('resource:orders')");
    await scheduler.promote();

    expect(await parking()).toEqual(before);
  });

  it("keeps the time since when it has waited while only the resource that blocks it changes", async () => {
    const scheduler = await box.scheduler();
    const a = await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));
    await scheduler.enqueue(echo.task(2, { resources: [exclusive("b")] }));
    const both = await scheduler.enqueue(echo.task(3, { resources: [exclusive("a"), exclusive("b")] }));
    await scheduler.promote();
    const before = await scheduler.explain(both.taskRunId);

    await scheduler.cancel(a.taskRunId);
    await scheduler.promote();

    const after = await scheduler.explain(both.taskRunId);
    expect(after.blockedSince).toEqual(before.blockedSince);
    expect(await box.value("SELECT blocked_key FROM signalbox.waiting")).toBe("b");
  });

  it("is taken away by the pass and never left over when all is done", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany(
      Array.from({ length: 30 }, (_, index) =>
        echo.task(index, {
          resources: [index % 3 === 0 ? exclusive("a") : shared("a")],
          version: `${index % 4}`,
        }),
      ),
      { run: { title: "nightly", limit: 3 } },
    );

    await scheduler.runUntilIdle();

    expect((await scheduler.list({ status: ["DONE"] })).taskRuns).toHaveLength(30);
    for (const table of ["gate_wake", "waiting", "line", "ready", "hold", "open_version", "claim_batch"]) {
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    }
  });
});

describe("a pass that cannot look at everything", () => {
  it("says that there is more, and the passes after it come to the end", async () => {
    const scheduler = await box.scheduler({ batchSize: 5 });
    const { taskRuns } = await scheduler.enqueueMany(
      Array.from({ length: 23 }, () => echo.task(1, { resources: [shared("disk")] })),
    );

    const sizes: number[] = [];
    for (let more = true; more; ) {
      const pass = await scheduler.promote();
      if (pass.kind === "lock_missed") throw new Error("Another promoter is at work");
      sizes.push(pass.promoted.length);
      more = pass.more;
    }

    expect(sizes).toEqual([5, 5, 5, 5, 3]);
    expect((await scheduler.list({ status: ["AVAILABLE"] })).taskRuns).toHaveLength(taskRuns.length);
  });

  it("goes on where a woken line goes on", async () => {
    const scheduler = await box.scheduler();
    const holder = await scheduler.enqueue(echo.task(0, { resources: [exclusive("disk")] }));
    await scheduler.enqueueMany(
      Array.from({ length: 80 }, () => echo.task(1, { resources: [shared("disk")] })),
    );
    await scheduler.promote();
    await scheduler.cancel(holder.taskRunId);

    // A look goes 32 deep.
    const sizes: number[] = [];
    for (let more = true; more; ) {
      const pass = await scheduler.promote();
      if (pass.kind === "lock_missed") throw new Error("Another promoter is at work");
      sizes.push(pass.promoted.length);
      more = pass.more;
    }
    expect(sizes).toEqual([32, 32, 16]);
  });

  it("says that there is more when one that leaves a line makes room behind it in another", async () => {
    const scheduler = await box.scheduler();
    // Waits for `a` and stands in the line of `b`, before one that wants only `b`.
    const onA = await scheduler.enqueue(echo.task(0, { resources: [exclusive("a")] }));
    const { taskRuns } = await scheduler.enqueueMany(
      [echo.task(1, { resources: [exclusive("a"), exclusive("b")] }), echo.task(2, { priority: 9 })],
      { run: { title: "nightly", limit: 1 } },
    );
    const onB = await scheduler.enqueue(echo.task(3, { resources: [exclusive("b")] }));
    await scheduler.promote();
    expect(await box.statusOf(taskRuns[1]?.taskRunId ?? "")).toBe("AVAILABLE");

    // `a` is free, but its run is full by now: it leaves both lines.
    await scheduler.cancel(onA.taskRunId);
    const pass = await scheduler.promote();

    expect(await box.statusOf(taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
    expect(pass).toMatchObject({ more: true });
    expect(await scheduler.promote()).toMatchObject({ promoted: [onB.taskRunId], more: false });
  });
});

describe("nobody starves", () => {
  it("lets one that can go pass a hundred that cannot", async () => {
    const scheduler = await box.scheduler({ batchSize: 10 });
    await scheduler.enqueue(echo.task(0, { resources: [exclusive("orders")] }));
    await scheduler.enqueueMany(
      Array.from({ length: 100 }, () => echo.task(1, { resources: [exclusive("orders")] })),
    );
    const can = await scheduler.enqueue(echo.task(2, { resources: [exclusive("users")] }));

    while ((await scheduler.promote().then((pass) => pass.kind === "passed" && pass.more)) === true);

    expect(await box.statusOf(can.taskRunId)).toBe("AVAILABLE");
  });

  it("lets a sharer pass a hundred sharers who wait for something else, when it comes and when it is woken", async () => {
    const scheduler = await box.scheduler();
    const promoteAll = async (): Promise<void> => {
      while ((await scheduler.promote().then((pass) => pass.kind === "passed" && pass.more)) === true);
    };
    await scheduler.enqueue(echo.task(0, { resources: [exclusive("busy")] }));
    const holder = await scheduler.enqueue(echo.task(1, { resources: [exclusive("disk")] }));
    await scheduler.enqueueMany(
      Array.from({ length: 100 }, () => echo.task(2, { resources: [shared("disk"), exclusive("busy")] })),
    );
    const woken = await scheduler.enqueue(echo.task(3, { resources: [shared("disk")] }));
    await promoteAll();
    expect(await box.statusOf(woken.taskRunId)).toBe("PENDING");

    await scheduler.cancel(holder.taskRunId);
    await promoteAll();
    const newcomer = await scheduler.enqueue(echo.task(4, { resources: [shared("disk")] }));
    await promoteAll();

    expect(await box.statusOf(woken.taskRunId)).toBe("AVAILABLE");
    expect(await box.statusOf(newcomer.taskRunId)).toBe("AVAILABLE");
  });

  it("gives a task both of its busy resources, though others keep coming for each of them", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    const comeFor = async (name: string): Promise<void> => {
      await scheduler.enqueue(echo.task(name, { resources: [exclusive(name)] }));
    };
    await comeFor("a");
    await comeFor("b");
    await scheduler.promote();
    const both = await scheduler.enqueue(echo.task("both", { resources: [exclusive("a"), exclusive("b")] }));

    // Of the two that hold something one ends at a time, and a newcomer stands there for it at once.
    for (const name of ["a", "b"]) {
      await comeFor("a");
      await comeFor("b");
      await scheduler.promote();
      expect(await box.statusOf(both.taskRunId), name).toBe("PENDING");
      await scheduler.claim();
      await scheduler.execute();
      await scheduler.settle();
    }
    await scheduler.promote();

    expect(await box.statusOf(both.taskRunId)).toBe("AVAILABLE");
  });

  it("lets one that wants a resource alone in, though sharers keep coming", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    const share = async (): Promise<string> =>
      (await scheduler.enqueue(echo.task(1, { resources: [shared("disk")] }))).taskRunId;
    const first = await share();
    await scheduler.promote();
    const alone = await scheduler.enqueue(echo.task(2, { resources: [exclusive("disk")] }));
    const late = await share();

    await scheduler.promote();
    expect([await box.statusOf(first), await box.statusOf(late)]).toEqual(["AVAILABLE", "PENDING"]);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    await scheduler.promote();

    expect([await box.statusOf(alone.taskRunId), await box.statusOf(late)]).toEqual(["AVAILABLE", "PENDING"]);
  });
});
