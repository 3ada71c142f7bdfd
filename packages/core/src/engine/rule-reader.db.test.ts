import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { RunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { RulesInForce } from "../domain/rules-in-force.ts";
import type { WindowSpec } from "../domain/window-spec.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { readRulesOnce } from "./rule-reader.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const HOUR_MS = 3_600_000;
const since = expect.any(Date);
const FREEZE: WindowSpec = {
  kind: "freeze",
  from: new Date(Date.now() - HOUR_MS),
  until: new Date(Date.now() + HOUR_MS),
};
const ALWAYS: WindowSpec = {
  kind: "maintenance",
  opens: "* * * * *",
  lastsMs: 2 * HOUR_MS,
  timeZone: "Europe/Berlin",
};
const NOTHING: RulesInForce = {
  computedAt: since,
  queues: [],
  keyLimits: [],
  rates: [],
  pauses: [],
  windows: [],
  stops: [],
  reservations: [],
  cut: [],
};

/** One rule of every sort. */
async function putAll(scheduler: ManualScheduler) {
  const { runId, taskRuns } = await scheduler.enqueueMany(
    [echo.task(1, { stops: [{ code: "APPROVAL", detail: "needs two reviewers" }] })],
    { run: { title: "nightly" } },
  );
  const [task] = taskRuns;
  if (runId === null || task === undefined) throw new Error("No run");
  await scheduler.setQueue("mail", { limit: 5 });
  await scheduler.setQueue("reports", { weight: 3 });
  await scheduler.setKeyLimit("customer:*", 2);
  await scheduler.setRate("smtp", { amount: 100, perMs: 60_000 });
  await scheduler.pause({ queue: "sms" }, { by: "ada", reason: "the provider is down" });
  await scheduler.pause({ resource: "orders" });
  await scheduler.pause({ runId }, { by: "bob" });
  await scheduler.setWindows({ queue: "sms" }, [ALWAYS]);
  await scheduler.setWindows({ resource: "orders" }, [ALWAYS, FREEZE]);
  await scheduler.putStop(task.taskId, "BUDGET");
  return { runId, taskId: task.taskId };
}

describe("the rules in force", () => {
  it("are all that were put, in the words in which they were given", async () => {
    const scheduler = await box.scheduler();
    expect(await scheduler.readRules()).toEqual(NOTHING);
    const { runId, taskId } = await putAll(scheduler);

    expect(await scheduler.readRules()).toEqual({
      computedAt: since,
      // "sms" was never given a limit or a weight.
      queues: [
        { queue: "mail", limit: 5, weight: 1, since },
        { queue: "reports", limit: 0, weight: 3, since },
      ],
      keyLimits: [{ concurrencyKey: "customer:*", limit: 2, since }],
      rates: [{ rate: "smtp", amount: 100, perMs: 60_000, free: 100, since }],
      pauses: [
        { what: { queue: "sms" }, by: "ada", reason: "the provider is down", since },
        { what: { resource: "orders" }, by: null, reason: null, since },
        { what: { runId }, by: "bob", reason: null, since },
      ],
      windows: [
        { what: { queue: "sms" }, windows: [ALWAYS], now: { kind: "open", until: expect.any(Date) }, since },
        {
          what: { resource: "orders" },
          windows: [ALWAYS, FREEZE],
          now: { kind: "closed", because: "freeze", opensAt: FREEZE.until },
          since,
        },
      ],
      stops: [
        { taskId, code: "APPROVAL", detail: "needs two reviewers", since },
        { taskId, code: "BUDGET", detail: null, since },
      ],
      reservations: [],
      cut: [],
    });
  });

  it("are no more than what holds: what was taken off is not among them", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await putAll(scheduler);
    const { pauses, windows } = await scheduler.readRules();

    await scheduler.setQueue("mail", { limit: 0 });
    await scheduler.setQueue("reports", { weight: 1 });
    for (const { what } of pauses) expect(await scheduler.resume(what)).toBe(true);
    for (const { what } of windows) await scheduler.setWindows(what, []);
    for (const code of ["APPROVAL", "BUDGET"]) await scheduler.takeOffStop(taskId, code);

    const keyLimits = [{ concurrencyKey: "customer:*" }];
    const rates = [{ rate: "smtp" }];
    expect(await scheduler.readRules()).toMatchObject({ ...NOTHING, keyLimits, rates });
  });

  it("say of windows what can be given again, and changes nothing", async () => {
    const scheduler = await box.scheduler();
    await putAll(scheduler);
    const before = await scheduler.readRules();

    for (const { what, windows } of before.windows) await scheduler.setWindows(what, windows);

    const { windows: after } = await scheduler.readRules();
    expect(after.map(({ what, windows }) => ({ what, windows }))).toEqual(
      before.windows.map(({ what, windows }) => ({ what, windows })),
    );
  });

  it("say since when: of a rule that is changed, since the change", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setQueue("mail", { limit: 5 });
    await scheduler.setQueue("reports", { limit: 5 });
    await box.query("UPDATE signalbox.event_store SET at = at - interval '1 hour'");
    const sinceOf = async () => (await scheduler.readRules()).queues.map((rule) => Number(rule.since));
    const [mail = 0, reports] = await sinceOf();

    await scheduler.setQueue("mail", { limit: 6 });
    // A pause of it is no change of its limit.
    await scheduler.pause({ queue: "reports" });

    const [changed, same] = await sinceOf();
    expect(changed).toBeGreaterThanOrEqual(mail + HOUR_MS);
    expect(same).toBe(reports);
  });

  it("say how many may start now under a rate: who has started lately or is AVAILABLE counts", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.setRate("smtp", { amount: 3, perMs: HOUR_MS });
    await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { rate: "smtp" })));
    const free = async () => (await scheduler.readRules()).rates.map((rate) => rate.free);

    expect(await free()).toEqual([3]);
    await scheduler.promote();
    expect(await free()).toEqual([1]);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    expect(await free()).toEqual([1]);
    await scheduler.setRate("smtp", { amount: 1, perMs: HOUR_MS });
    expect(await free()).toEqual([0]);
  });

  it("count the free slots of no more rates than is quick, and say which they did not", async () => {
    const scheduler = await box.scheduler();
    await box.query(
      "INSERT INTO signalbox.rate SELECT 'rate ' || n, 10000, 1000 FROM generate_series(10, 20) AS n",
    );

    const { rates } = await scheduler.readRules();

    expect(rates.map(({ free }) => free)).toEqual([...Array<number>(10).fill(10_000), null]);
  });

  it("have what is kept for a task whose instance was lost, until it is released", async () => {
    const doomed = await box.scheduler({ name: "doomed" });
    const { taskId } = await doomed.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await doomed.promote();
    await doomed.claim();
    await doomed.expireLease();
    const scheduler = await box.scheduler();
    await scheduler.rescue();

    expect((await scheduler.readRules()).reservations).toEqual([{ resource: "orders", taskId }]);
    await scheduler.releaseReservation("orders");
    expect((await scheduler.readRules()).reservations).toEqual([]);
  });

  it("are up to a limit of each sort, of stops the newest, and it is said where there are more", async () => {
    const scheduler = await box.scheduler();
    for (const name of ["a", "b", "c"]) await scheduler.setQueue(name, { limit: 1 });
    for (const name of ["a", "b"]) await scheduler.setKeyLimit(name, 2);
    const stops = [{ code: "APPROVAL" }];
    const { taskRuns } = await scheduler.enqueueMany([1, 2, 3].map((n) => echo.task(n, { stops })));

    const rules = await scheduler.readRules({ limit: 2 });

    expect(rules).toMatchObject({
      queues: [{ queue: "a" }, { queue: "b" }],
      keyLimits: [{ concurrencyKey: "a" }, { concurrencyKey: "b" }],
      stops: [{ taskId: taskRuns[2]?.taskId }, { taskId: taskRuns[1]?.taskId }],
      cut: ["queues", "stops"],
    });
  });
});

describe("rules that are changed while they are read", () => {
  const change = async (scheduler: ManualScheduler, runId: RunId): Promise<void> => {
    await scheduler.setQueue("mail", { limit: 1 });
    await scheduler.pause({ queue: "mail" });
    await scheduler.pause({ runId });
    await scheduler.setWindows({ queue: "mail" }, [FREEZE]);
  };

  it.each(["readKeyLimits", "readPauses", "readWindows", "readStops"])(
    "are seen as they were before, or as they are after, never mixed: %s",
    async (statement) => {
      const scheduler = await box.scheduler();
      const { runId } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" } });
      await scheduler.setQueue("mail", { limit: 5 });
      const pool = box.pool("reader");
      const before = await readRulesOnce(pool, 10);
      const under = pool.pauseBefore(statement);
      const asked = readRulesOnce(pool, 10);
      await under.reached;

      await change(scheduler, runId as RunId);
      under.resume();

      expect(await asked).toEqual({ ...before, computedAt: since });
      expect(await readRulesOnce(pool, 10)).toMatchObject({
        queues: [{ queue: "mail", limit: 1 }],
        pauses: [{ what: { queue: "mail" } }, { what: { runId } }],
        windows: [{ what: { queue: "mail" }, now: { kind: "closed" } }],
      });
    },
  );
});
