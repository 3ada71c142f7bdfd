/** Who may go when a resource is free, and who waits for whom. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { exclusive, shared } from "../domain/resource.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it("lets a sharer go past any number of sharers that wait for something else", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(0, { resources: [exclusive("x")] }));
  await scheduler.enqueue(echo.task(0, { resources: [exclusive("y")] }));
  await scheduler.promote();
  const [holderOfX] = (await scheduler.list({ status: ["AVAILABLE"] })).taskRuns.filter(({ resources }) =>
    resources.some(({ name }) => name === "x"),
  );
  await scheduler.enqueueMany(
    Array.from({ length: 40 }, () => echo.task(1, { resources: [shared("x"), exclusive("y")] })),
  );
  const early = await scheduler.enqueue(echo.task(2, { resources: [shared("x")] }));
  await scheduler.promote();

  await scheduler.cancel(holderOfX?.taskRunId ?? "");
  for (let more = true; more; ) {
    const pass = await scheduler.promote();
    more = pass.kind === "passed" && pass.more;
  }
  const late = await scheduler.enqueue(echo.task(3, { resources: [shared("x")] }));
  await scheduler.promote();

  expect(await box.statusOf(early.taskRunId)).toBe("AVAILABLE");
  expect(await box.statusOf(late.taskRunId)).toBe("AVAILABLE");
});

it("does not keep a smaller version behind a larger one that waits for it", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(0, { resources: [exclusive("y")] }));
  await scheduler.promote();
  const larger = await scheduler.enqueue(
    echo.task(1, { resources: [exclusive("x"), exclusive("y")], version: "2" }),
  );
  await scheduler.promote();

  const smaller = await scheduler.enqueue(echo.task(2, { resources: [exclusive("x")], version: "1" }));
  await scheduler.promote();

  expect(await box.statusOf(larger.taskRunId)).toBe("PENDING");
  expect(await box.statusOf(smaller.taskRunId)).toBe("AVAILABLE");
});

it.each([
  ["alone", exclusive],
  ["shared", shared],
])("does not keep a smaller version, %s, behind several larger ones that wait for it", async (_, wanted) => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(0, { resources: [exclusive("y")] }));
  await scheduler.promote();
  const resources = [exclusive("x"), exclusive("y")];
  await scheduler.enqueueMany([1, 2, 3].map((input) => echo.task(input, { resources, version: "2" })));
  await scheduler.promote();

  const smaller = await scheduler.enqueue(echo.task(4, { resources: [wanted("x")], version: "1" }));
  const pass = await scheduler.promote();

  // Nothing else would look at it before "y" is free, or the slow sweep comes.
  expect(pass).toMatchObject({ more: false });
  expect(await box.statusOf(smaller.taskRunId)).toBe("AVAILABLE");
});

it("keeps a newcomer behind one that waits for another resource, though its own is free", async () => {
  const scheduler = await box.scheduler({ slots: 1 });
  const take = async (...names: readonly string[]): Promise<string> =>
    (await scheduler.enqueue(echo.task(names, { resources: names.map(exclusive) }))).taskRunId;
  await take("a");
  await take("b");
  await scheduler.promote();
  const both = await take("a", "b");
  await scheduler.promote();
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  // Now it waits for "b" alone.
  await scheduler.promote();

  const newcomer = await take("a");
  await scheduler.promote();

  expect(await box.statusOf(newcomer)).toBe("PENDING");
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  await scheduler.promote();
  expect([await box.statusOf(both), await box.statusOf(newcomer)]).toEqual(["AVAILABLE", "PENDING"]);
});
