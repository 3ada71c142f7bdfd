import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../../test/fixture.ts";
import { asInstanceId } from "../../domain/ids.ts";
import { exclusive } from "../../domain/resource.ts";
import { leaveCluster } from "./instance.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it("counts what waits at each gate, what is AVAILABLE and what runs where", async () => {
  const [one, other] = [
    await box.scheduler({ name: "one", slots: 2 }),
    await box.scheduler({ name: "other" }),
  ];
  await one.enqueueMany([echo.task(1), echo.task(2), echo.task(3)]);
  await one.claim();
  const resources = [exclusive("orders")];
  await one.enqueue(echo.task(4, { resources }));
  await one.enqueue(echo.task(5, { resources, version: "1" }));
  await one.enqueue(echo.task(6, { resources, version: "2" }));
  await one.enqueue(echo.task(7, { runAt: new Date("2090-01-01") }));
  await one.enqueueMany([echo.task(8), echo.task(9), echo.task(10)], { run: { title: "nightly", limit: 1 } });
  await one.promote();
  await one.enqueue(echo.task(11, { resources }));

  const overview = await one.overview();

  expect(overview).toMatchObject({
    waiting: { RESOURCE_BUSY: 1, VERSION_ORDER: 1, RUN_AT: 1, RUN_LIMIT: 2, NOT_EVALUATED: 1 },
    available: 3,
    running: 2,
    instances: [
      {
        instanceId: one.instanceId,
        name: "one",
        state: "LIVE",
        slots: 2,
        running: 2,
        kinds: ["echo", "broken"],
      },
      { instanceId: other.instanceId, name: "other", state: "LIVE", running: 0 },
    ],
  });
});

it("counts up to a bound where it is given one, and says so", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany([1, 2, 3].map((n) => echo.task(n)));
  await scheduler.enqueueMany([4, 5, 6].map((n) => echo.task(n, { runAt: new Date("2090-01-01") })));
  await scheduler.enqueueMany([7, 8, 9, 10].map((n) => echo.task(n, { resources: [exclusive("orders")] })));
  await scheduler.promote();

  expect(await scheduler.overview({ countUpTo: 2 })).toMatchObject({
    countedUpTo: 2,
    waiting: { RUN_AT: 2, RESOURCE_BUSY: 2 },
    available: 2,
  });
  expect(await scheduler.overview()).toMatchObject({
    waiting: { RUN_AT: 3, RESOURCE_BUSY: 3 },
    available: 4,
  });
  for (const countUpTo of [0, 1.5, 10_000_001])
    await expect(scheduler.overview({ countUpTo })).rejects.toMatchObject({ code: "INVALID_FILTER" });
});

it("counts nothing where nothing is, and does not count the finished", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(1));
  await scheduler.runUntilIdle();

  expect(await scheduler.overview()).toMatchObject({ waiting: {}, available: 0, running: 0 });
});

it("shows an instance that died for ten minutes, and then no more", async () => {
  const [scheduler, doomed] = [await box.scheduler(), await box.scheduler({ name: "doomed" })];
  await doomed.expireLease();
  await scheduler.rescue();
  const names = async () =>
    (await scheduler.overview()).instances.map(({ name, state }) => `${name} ${state}`);

  expect(await names()).toEqual(["manual LIVE", "doomed DEAD"]);
  await box.query("UPDATE signalbox.instance SET beat_at = beat_at - interval '11 minutes'");
  expect(await names()).toEqual(["manual LIVE"]);
});

it("tells one that left from one that was lost", async () => {
  const [scheduler, leaving, doomed] = [
    await box.scheduler(),
    await box.scheduler({ name: "leaving" }),
    await box.scheduler({ name: "doomed" }),
  ];
  await box
    .pool("leaver")
    .transaction(async (tx) => await leaveCluster(tx, asInstanceId(leaving.instanceId)));
  await doomed.expireLease();
  await scheduler.rescue();

  const { instances } = await scheduler.overview();

  expect(instances.map(({ name, state, leftAt }) => [name, state, leftAt !== null])).toEqual([
    ["manual", "LIVE", false],
    ["leaving", "DEAD", true],
    ["doomed", "DEAD", false],
  ]);
});

it("forgets the row of a dead instance after an hour, but not while it has something to rescue", async () => {
  const [scheduler, doomed] = [await box.scheduler({ batchSize: 1 }), await box.scheduler()];
  await doomed.enqueueMany([echo.task(1), echo.task(2)]);
  await doomed.claim();
  await box.query(
    `UPDATE signalbox.instance SET state = 'DEAD', expires_at = clock_timestamp() - interval '2 hours'
      WHERE boot_id = $1`,
    [doomed.instanceId],
  );
  const isKnown = async () =>
    (await box.query("SELECT FROM signalbox.instance WHERE boot_id = $1", [doomed.instanceId])).length === 1;

  // The first of two: the second is still to be told whose it was.
  expect(await scheduler.rescue()).toBe(1);
  expect(await isKnown()).toBe(true);
  expect(await scheduler.rescue()).toBe(1);
  expect(await isKnown()).toBe(false);
});
