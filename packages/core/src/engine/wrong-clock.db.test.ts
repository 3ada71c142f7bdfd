/** An instance whose own clock is wrong: what is persisted goes by the clock of the database alone. */

import { afterAll, afterEach, describe, expect, inject, it, vi } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(async () => {
  vi.useRealTimers();
  await box.clear();
});
afterAll(box.close);

describe.each([
  ["ahead", 3_600_000],
  ["behind", -3_600_000],
])("an instance whose clock is an hour %s", (_, offMs) => {
  /** The clock is off from here on: nothing that was made before knows of it. */
  const setClock = (): void => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });
  };

  it("gives nobody up who lives, and gives up whose lease has run out", async () => {
    const [living, silent] = [await box.scheduler(), await box.scheduler({ name: "silent" })];
    await living.enqueueMany([echo.task(1), echo.task(2)]);
    await living.claim();
    const { taskRunId } = await living.enqueue(echo.task(3));
    await silent.claim();
    await silent.expireLease();
    setClock();

    expect(await living.rescue()).toBe(1);

    expect(await box.statusOf(taskRunId)).toBe("FAILED");
    expect(await box.query("SELECT name FROM signalbox.instance WHERE state = 'DEAD'")).toEqual([
      { name: "silent" },
    ]);
  });

  it("has a lease as long as any other, at its start and after a renewal", async () => {
    setClock();
    const scheduler = await box.scheduler();
    const leaseMs = async (): Promise<number> =>
      await box.value(
        "SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 FROM signalbox.instance",
      );

    expect(Math.abs((await leaseMs()) - 60_000)).toBeLessThan(20_000);
    expect(await scheduler.renew()).toBe(true);
    expect(Math.abs((await leaseMs()) - 60_000)).toBeLessThan(20_000);
    await scheduler.enqueue(echo.task(1));
    expect(await scheduler.claim()).toHaveLength(1);
  });

  it("starts nothing before its run time, a retry not before its backoff, and both when they are due", async () => {
    const scheduler = await box.scheduler();
    const inHalfAnHour = new Date(Date.now() + 1_800_000);
    const later = await scheduler.enqueue(echo.task(1, { runAt: inHalfAnHour }));
    const due = await scheduler.enqueue(echo.task(2, { runAt: new Date(Date.now() - 60_000) }));
    const again = await scheduler.enqueue(
      broken.task(3, { retry: { attempts: 2, backoff: { firstMs: 1_200_000, maxMs: 1_200_000 } } }),
    );
    setClock();

    await scheduler.runUntilIdle();

    expect(await box.statusOf(later.taskRunId)).toBe("PENDING");
    expect(await box.statusOf(due.taskRunId)).toBe("DONE");
    expect(await scheduler.get(again.taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
    const minutes = await box.value<number>(
      "SELECT (extract(epoch FROM run_at - clock_timestamp()) / 60)::float8 FROM signalbox.waiting WHERE task_id = $1",
      [again.taskId],
    );
    expect(minutes).toBeGreaterThan(5);
    expect(minutes).toBeLessThan(21);
    await box.query("UPDATE signalbox.waiting SET run_at = clock_timestamp() - interval '1 s'");
    await scheduler.promote();
    expect(await box.statusOf(later.taskRunId)).toBe("AVAILABLE");
    expect((await scheduler.checkInvariants()).notChecked).toEqual([]);
  });
});
