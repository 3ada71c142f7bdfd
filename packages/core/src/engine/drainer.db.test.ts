/** An instance that somebody asks to drain: it takes nothing new, ends what it runs, and can be called back. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { startIn } from "../../test/started.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { asInstanceId, type InstanceId } from "../domain/ids.ts";
import { defineTask } from "../executors/define-task.ts";
import type { Pool } from "../store/database.ts";
import { carryDrain } from "../store/instances/drain.ts";
import { markDraining } from "../store/instances/instance.ts";
import { Memberships } from "./membership.ts";
import { resolveSettings } from "./settings.ts";

const box = await openFixture(inject("adminUrl"));
const { create, running, stopAll } = startIn(box);
afterEach(async () => {
  await stopAll();
  await box.clear();
});
afterAll(box.close);

const idOf = async (name: string): Promise<InstanceId> =>
  asInstanceId(await box.value<string>("SELECT boot_id FROM signalbox.instance WHERE name = $1", [name]));

const carry = async (from: readonly InstanceId[], to: InstanceId): Promise<boolean> =>
  await box.pool("joiner").transaction(async (tx) => await carryDrain(tx, from, to));

describe("with its loops", () => {
  it("ends what it runs, claims nothing more, says so, and works again when it is called back", async () => {
    const end = deferred<string>();
    const slow = defineTask({ kind: "slow", run: async () => await end.promise });
    const { scheduler, taskRunId } = await running(slow, { name: "one", slots: 2 });
    const instanceId = await idOf("one");

    expect(await scheduler.drainInstance(instanceId, { by: "ana", reason: "new kernel" })).toBe(true);
    const next = await scheduler.enqueue(slow.task(null));
    await waitUntil("it knows", () => scheduler.health().problems.includes("DRAINING"));
    expect(scheduler.health()).toMatchObject({ ready: false, executing: 1 });
    expect((await scheduler.overview()).instances).toMatchObject([
      {
        state: "DRAINING",
        running: 1,
        drainRequest: { by: "ana", reason: "new kernel", since: expect.any(Date) },
      },
    ]);
    end.resolve("well");
    await waitUntil("what it ran has ended", async () => (await box.statusOf(taskRunId)) === "DONE");
    expect(await box.statusOf(next.taskRunId)).not.toBe("RUNNING");

    expect(await scheduler.callInstanceBack(instanceId)).toBe(true);
    await waitUntil("it works again", async () => (await box.statusOf(next.taskRunId)) === "DONE");
    expect(scheduler.health()).toMatchObject({ ready: true, problems: [] });
    expect((await scheduler.overview()).instances).toMatchObject([{ state: "LIVE", drainRequest: null }]);
  });

  it("is asked for the same in its next life, when it has lost its lease", async () => {
    const scheduler = create({ name: "one" });
    await scheduler.start();
    const lost = await idOf("one");
    await scheduler.drainInstance(lost, { by: "ana", reason: "new kernel" });
    await box.query("UPDATE signalbox.instance SET state = 'DEAD'");
    await waitUntil("it is back", async () => {
      const { instances } = await scheduler.overview();
      return instances.some(({ instanceId, state }) => instanceId !== lost && state !== "DEAD");
    });

    const { instances } = await scheduler.overview();
    const back = instances.find(({ instanceId }) => instanceId !== lost);
    expect(back).toMatchObject({ state: "DRAINING", drainRequest: { by: "ana", reason: "new kernel" } });
    expect(scheduler.health().problems).toContain("DRAINING");
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    expect(await scheduler.callInstanceBack(back?.instanceId ?? lost)).toBe(true);
    await waitUntil("it works again", async () => (await box.statusOf(taskRunId)) === "DONE");
  });

  it("is asked for the same also where the answer to its joining was lost", async () => {
    const real = box.pool("joiner");
    let losesAnswer = false;
    const transaction: Pool["transaction"] = async (work, first) => {
      const answer = await real.transaction(work, first);
      if (!losesAnswer) return answer;
      losesAnswer = false;
      throw new Error("Connection terminated unexpectedly");
    };
    const onLost = deferred<void>();
    const memberships = new Memberships({
      pool: { ...real, transaction },
      settings: resolveSettings(
        { databaseUrl: box.db.url, tasks: [echo], leaseMs: 3_000, beatMs: 500 },
        "one",
      ),
      emit: () => {},
      onRenewed: () => {},
      onCalledBack: () => {},
      onLost: () => onLost.resolve(),
    });
    await memberships.join();
    const scheduler = await box.scheduler({ name: "other", tasks: [] });
    await scheduler.drainInstance(await idOf("one"));
    await box.query("UPDATE signalbox.instance SET state = 'DEAD' WHERE name = 'one'");
    await onLost.promise;

    losesAnswer = true;
    await expect(memberships.join()).rejects.toThrow("Connection terminated");
    await memberships.join();

    expect(memberships.isDrained).toBe(true);
    expect(memberships.mayClaim).toBe(false);
    await memberships.leave();
  });

  it("leaves as any other when it is stopped", async () => {
    const scheduler = create({ name: "one" });
    await scheduler.start();
    await scheduler.drainInstance(await idOf("one"));
    await scheduler.stop();

    expect(await box.value("SELECT state FROM signalbox.instance WHERE left_at IS NOT NULL")).toBe("DEAD");
  });
});

describe("step by step", () => {
  it("what only it could run waits for an executor, and goes when it is called back", async () => {
    const scheduler = await box.scheduler({ name: "one" });
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.drainInstance(scheduler.instanceId);

    expect(await scheduler.claim()).toEqual([]);
    await scheduler.sweep();
    expect(await scheduler.explain(taskRunId)).toMatchObject({ status: "PENDING", blockedOn: "NO_EXECUTOR" });

    await scheduler.callInstanceBack(scheduler.instanceId);
    await scheduler.runUntilIdle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("a second request changes nothing, and neither does one to call back who was not asked", async () => {
    const scheduler = await box.scheduler();
    const id = scheduler.instanceId;

    expect(await scheduler.callInstanceBack(id)).toBe(false);
    expect(await scheduler.drainInstance(id, { by: "ana" })).toBe(true);
    expect(await scheduler.drainInstance(id, { by: "bo" })).toBe(false);
    expect((await scheduler.overview()).instances).toMatchObject([{ drainRequest: { by: "ana" } }]);
  });

  it("who leaves by itself cannot be called back, also where it had been asked before", async () => {
    const scheduler = await box.scheduler();
    const id = scheduler.instanceId;
    await scheduler.drainInstance(id);
    await box.pool("leaver").transaction(async (tx) => await markDraining(tx, id));

    expect(await scheduler.callInstanceBack(id)).toBe(false);
    expect((await scheduler.overview()).instances).toMatchObject([{ state: "DRAINING", drainRequest: null }]);
  });

  it("one whose lease has run out stays dead when it is called back", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler({ name: "doomed" })];
    await doomed.drainInstance(doomed.instanceId);
    await doomed.expireLease();

    expect(await scheduler.callInstanceBack(doomed.instanceId)).toBe(true);
    expect(
      await box.value("SELECT state FROM signalbox.instance WHERE boot_id = $1", [doomed.instanceId]),
    ).toBe("DRAINING");
    await scheduler.rescue();
    expect(await scheduler.drainInstance(doomed.instanceId)).toBe(false);
    expect(await scheduler.callInstanceBack(doomed.instanceId)).toBe(false);
  });

  it("who is called back between two lives is not asked again in the next one", async () => {
    const [lost, back] = [await box.scheduler({ name: "one" }), await box.scheduler({ name: "one" })];
    await lost.drainInstance(lost.instanceId);
    await lost.expireLease();
    expect(await back.callInstanceBack(lost.instanceId)).toBe(true);

    expect(await carry([lost.instanceId], back.instanceId)).toBe(false);
    expect(
      await box.value("SELECT state FROM signalbox.instance WHERE boot_id = $1", [back.instanceId]),
    ).toBe("LIVE");
  });

  it("who was asked again in its next life is called back under its new id only", async () => {
    const [lost, back] = [await box.scheduler({ name: "one" }), await box.scheduler({ name: "one" })];
    await lost.drainInstance(lost.instanceId);
    await lost.expireLease();
    expect(await carry([lost.instanceId], back.instanceId)).toBe(true);

    expect(await back.callInstanceBack(lost.instanceId)).toBe(false);
    expect(await back.callInstanceBack(back.instanceId)).toBe(true);
  });

  it("nobody is asked under the id of a life that is over", async () => {
    const [lost, back] = [await box.scheduler({ name: "one" }), await box.scheduler({ name: "one" })];
    expect(await carry([lost.instanceId], back.instanceId)).toBe(false);

    expect(await back.drainInstance(lost.instanceId)).toBe(false);
    expect(await lost.claim()).toEqual([]);
    expect(
      await box.value("SELECT state FROM signalbox.instance WHERE boot_id = $1", [back.instanceId]),
    ).toBe("LIVE");
  });

  it.each(["one", "01a1ea0b-5d5d-7c29-9679-2a5536dab50d"])("nobody has the id %s", async (id) => {
    const scheduler = await box.scheduler();
    for (const ask of [scheduler.drainInstance, scheduler.callInstanceBack])
      await expect(ask(asInstanceId(id))).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  });

  it("the schema lets nobody be asked and LIVE", async () => {
    await box.scheduler();
    const live = box.query("UPDATE signalbox.instance SET drain_requested_at = clock_timestamp()");
    await expect(live).rejects.toMatchObject({ constraint: "instance_asked_to_drain_is_not_live" });
  });
});
