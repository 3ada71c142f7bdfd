import { afterAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

it.each(["claimed", "executed"])("goes on with what the end of one that was %s before frees", async (how) => {
  const scheduler = await box.scheduler({ slots: 1 });
  const resources = [exclusive("orders")];
  await scheduler.enqueueMany([echo.task(1, { resources }), echo.task(2, { resources }), echo.task(3)]);
  await scheduler.promote();
  expect(await scheduler.claim()).toHaveLength(1);
  if (how === "executed") await scheduler.execute();

  await scheduler.runUntilIdle();

  expect((await scheduler.list({ status: ["PENDING", "AVAILABLE", "RUNNING"] })).taskRuns).toEqual([]);
});
