/** Whatever a task run waits for, `explain` says it: one way into each state in which it can wait. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { cloud, outsideSteps, resetOutside } from "../../test/outside-job.ts";
import { loseAnswers } from "../../test/unheard.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import type { UnattendedCause } from "../domain/unattended.ts";
import type { WaitingCode } from "../domain/waiting-cause.ts";
import { DeferError } from "../executors/answers.ts";
import { defineTask, type TaskOptions } from "../executors/define-task.ts";
import { changeQueue } from "../store/rules/queue.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);
const outside = outsideSteps(box);

const later = defineTask({
  kind: "later",
  run: () => {
    throw new DeferError(3_600_000);
  },
});
/** No instance can run it. */
const nobodys = defineTask({ kind: "nobodys", run: () => null });

type Enter = (scheduler: ManualScheduler) => Promise<TaskRunId>;

const ORDERS: TaskOptions = { resources: [exclusive("orders")] };

/** The last of two that cannot both go. */
async function second(scheduler: ManualScheduler, options: TaskOptions): Promise<TaskRunId> {
  await scheduler.enqueue(echo.task(1, options));
  const { taskRunId } = await scheduler.enqueue(echo.task(2, options));
  await scheduler.promote();
  return taskRunId;
}

async function lastOfRun(scheduler: ManualScheduler, count: number, limit: number): Promise<TaskRunId> {
  const specs = Array.from({ length: count }, (_, input) => echo.task(input));
  const { taskRuns } = await scheduler.enqueueMany(specs, { run: { title: "nightly", limit } });
  await scheduler.promote();
  const last = taskRuns.at(-1);
  if (last === undefined) throw new Error("The run is empty");
  return last.taskRunId;
}

async function one(scheduler: ManualScheduler, options: TaskOptions = {}): Promise<TaskRunId> {
  return (await scheduler.enqueue(echo.task(1, options))).taskRunId;
}

async function claimed(scheduler: ManualScheduler, kind = "echo", options = {}): Promise<TaskRunId> {
  const { taskRunId } = await scheduler.enqueue({ kind, ...options });
  await scheduler.claim();
  return taskRunId;
}

const AT_A_GATE: { readonly [Code in WaitingCode]: Enter } = {
  RUN_AT: async (scheduler) => await one(scheduler, { runAt: new Date("2090-01-01") }),
  STOPPED: async (scheduler) => await one(scheduler, { stops: [{ code: "APPROVAL" }] }),
  PAUSED: async (scheduler) => {
    await scheduler.pause({ resource: "orders" });
    return await one(scheduler, ORDERS);
  },
  NO_EXECUTOR: async (scheduler) => {
    const { taskRunId } = await scheduler.enqueue(nobodys.task(null, ORDERS));
    await scheduler.promote();
    return taskRunId;
  },
  WINDOW: async (scheduler) => {
    const freeze = { kind: "freeze", from: new Date("2026-01-01"), until: new Date("2090-01-01") } as const;
    await scheduler.setWindows({ resource: "orders" }, [freeze]);
    return await one(scheduler, ORDERS);
  },
  OUT_OF_ORDER: async (scheduler) => {
    await one(scheduler, { ...ORDERS, version: "2" });
    await scheduler.runUntilIdle();
    return await one(scheduler, { ...ORDERS, version: "1" });
  },
  VERSION_ORDER: async (scheduler) => {
    await one(scheduler, { ...ORDERS, version: "1" });
    return await one(scheduler, { ...ORDERS, version: "2" });
  },
  RUN_LIMIT: async (scheduler) => await lastOfRun(scheduler, 2, 1),
  QUEUE_LIMIT: async (scheduler) => {
    await scheduler.setQueue("mail", { limit: 1 });
    return await second(scheduler, { queue: "mail" });
  },
  KEY_LIMIT: async (scheduler) => await second(scheduler, { concurrencyKey: "customer:7" }),
  FAIR_SHARE: async (scheduler) => await lastOfRun(scheduler, 30, 0),
  RATE_LIMIT: async (scheduler) => {
    await scheduler.setRate("sms", { amount: 1, perMs: 3_600_000 });
    return await second(scheduler, { rate: "sms" });
  },
  RESOURCE_BUSY: async (scheduler) => await second(scheduler, ORDERS),
  NOT_EVALUATED: async (scheduler) => await one(scheduler, ORDERS),
};

/** The same states, by other ways. */
const BACK_AT_A_GATE: readonly [how: string, code: WaitingCode, enter: Enter][] = [
  [
    "as a retry that backs off",
    "RUN_AT",
    async (scheduler) => {
      const retry = { attempts: 2, backoff: { firstMs: 3_600_000 } };
      const { taskId } = await scheduler.enqueue({ kind: "broken", retry });
      await scheduler.runUntilIdle();
      return (await scheduler.get(taskId)).taskRunId;
    },
  ],
  [
    "deferred",
    "RUN_AT",
    async (scheduler) => {
      const taskRunId = await claimed(scheduler, "later");
      await scheduler.execute();
      await scheduler.settle();
      return taskRunId;
    },
  ],
  [
    "handed back",
    "NOT_EVALUATED",
    async (scheduler) => {
      const taskRunId = await claimed(scheduler);
      loseAnswers(scheduler.held);
      await scheduler.reconcile();
      return taskRunId;
    },
  ],
  [
    "rescued",
    "NOT_EVALUATED",
    async (scheduler) => {
      const doomed = await box.scheduler({ name: "doomed" });
      const { taskId } = await doomed.get(await claimed(doomed));
      await doomed.expireLease();
      await scheduler.rescue();
      return (await scheduler.get(taskId)).taskRunId;
    },
  ],
  [
    "demoted",
    "PAUSED",
    async (scheduler) => {
      const taskRunId = await one(scheduler, { queue: "mail" });
      await scheduler.pause({ queue: "mail" });
      return taskRunId;
    },
  ],
];

/** A task run that no gate holds, and nobody has. */
const UNATTENDED: { readonly [Code in UnattendedCause["code"]]: Enter } = {
  NOT_CLAIMED: async (scheduler) => await one(scheduler),
  NO_FREE_SLOT: async (scheduler) => {
    await claimed(scheduler);
    return await one(scheduler);
  },
  NO_EXECUTOR: async (scheduler) => {
    const taskRunId = await one(scheduler);
    await scheduler.expireLease();
    return taskRunId;
  },
  RULES_CHANGED: async (scheduler) => {
    const taskRunId = await one(scheduler, { queue: "mail" });
    // Its transaction committed late: who changed the rule did not see it.
    await box.pool("rules").transaction(async (tx) => await changeQueue(tx, "mail", { limit: 1 }));
    return taskRunId;
  },
  WINDOW_CLOSED: async (scheduler) => {
    const taskRunId = await one(scheduler);
    await box.query("UPDATE signalbox.ready SET open_until = clock_timestamp()");
    return taskRunId;
  },
  NOT_POLLED: async () => await outside.start(await outside.open()),
  NO_POLLER: async () => {
    const only = await outside.open();
    const taskRunId = await outside.start(only);
    await box.query(
      "UPDATE signalbox.outside_job SET deadline = clock_timestamp(), next_poll_at = clock_timestamp()",
    );
    await only.expireLease();
    return taskRunId;
  },
  LEASE_OVER: async (scheduler) => {
    const taskRunId = await claimed(scheduler);
    await scheduler.expireLease();
    return taskRunId;
  },
  NOT_IN_WORK_SET: async (scheduler) => await lostFrom(scheduler, "ready", {}),
};

async function lostFrom(
  scheduler: ManualScheduler,
  workSet: string,
  options: TaskOptions,
): Promise<TaskRunId> {
  const taskRunId = await one(scheduler, options);
  await box.query(`DELETE FROM signalbox.${workSet}`);
  return taskRunId;
}

async function open(): Promise<ManualScheduler> {
  return await box.scheduler({ slots: 1, tasks: [echo, later, defineTask({ kind: "broken", run: fail })] });
}

function fail(): never {
  throw new Error("It does not work");
}

const ways = Object.entries(AT_A_GATE).map(([code, enter]) => ["as it came", code, enter] as const);

describe("a task run that waits at a gate", () => {
  it.each([...ways, ...BACK_AT_A_GATE])("%s is told of it: %s", async (_, code, enter) => {
    const scheduler = await open();

    const { status, gates, unattended } = await scheduler.explain(await enter(scheduler));

    const blocking = gates.filter(({ state }) => state === "blocking");
    expect({ status, unattended }).toEqual({ status: "PENDING", unattended: null });
    expect(blocking.map((gate) => gate.code)).toContain(code);
    for (const { causes } of blocking) expect(causes).not.toEqual([]);
  });
});

describe("a task run that no gate holds and nobody has", () => {
  it.each(Object.entries(UNATTENDED))("is told why: %s", async (code, enter) => {
    const scheduler = await open();

    const { status, gates, unattended } = await scheduler.explain(await enter(scheduler));

    expect(unattended).toMatchObject({ code });
    expect(["AVAILABLE", "RUNNING"]).toContain(status);
    expect(gates).toEqual([]);
  });

  it.each([
    ["RULES_CHANGED", UNATTENDED.RULES_CHANGED],
    ["WINDOW_CLOSED", UNATTENDED.WINDOW_CLOSED],
    ["NOT_IN_WORK_SET", UNATTENDED.NOT_IN_WORK_SET],
  ])("names nobody who could claim it where no claim would take it: %s", async (_, enter) => {
    const scheduler = await open();

    const taskRunId = await enter(scheduler);

    expect(await scheduler.explain(taskRunId)).toMatchObject({ claimableBy: [] });
    expect(await scheduler.claim()).toEqual([]);
  });

  it("is told what is missing where it would be found", async () => {
    const scheduler = await open();
    const pending = await lostFrom(scheduler, "waiting", ORDERS);
    const going = await outside.start(await outside.open());
    await box.query("DELETE FROM signalbox.outside_job");

    expect(await scheduler.explain(pending)).toMatchObject({ unattended: { workSet: "waiting" } });
    expect(await scheduler.explain(going)).toMatchObject({ unattended: { workSet: "outside_job" } });
  });

  it("is told nothing of the sort once somebody has it", async () => {
    const scheduler = await open();
    const running = await claimed(scheduler);
    const poller = await outside.open();
    const polled = await outside.start(poller);
    await outside.due();
    await poller.poll();

    for (const taskRunId of [running, polled])
      expect(await scheduler.explain(taskRunId)).toMatchObject({
        unattended: null,
        claimedBy: { leaseUntil: expect.any(Date) },
      });
  });
});

it("a poll takes up no slot of whoever could claim", async () => {
  const poller = await outside.open();
  await outside.start(poller);
  await outside.due();
  await poller.poll();
  const { taskRunId } = await poller.enqueue(cloud.task(null));

  expect(await poller.explain(taskRunId)).toMatchObject({
    claimableBy: [{ slots: 1, running: 0, freeSlots: 1 }],
    unattended: { code: "NOT_CLAIMED", freeSlots: 1 },
  });
});
