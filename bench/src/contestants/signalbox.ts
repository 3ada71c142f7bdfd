/** Signalbox: the whole worker, as a service would run it, on what `npm run build` made. */

import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, defineTask, type Scheduler } from "../../../packages/core/dist/index.js";
import type { Contestant, Load, LoadTask, WorkOptions } from "./contestant.ts";

const BATCH = 500;
const KEYS = "shop:*";

type Told = Pick<WorkOptions, "onTask" | "onEnd">;

const nothing = ({ onTask, onEnd }: Told) =>
  defineTask<{ n: number }>({
    kind: "nothing",
    run: ({ n }) => {
      onTask(n);
      onEnd(n);
    },
  });
const slow = ({ onTask, onEnd, restMs }: Told & Pick<WorkOptions, "restMs">) =>
  defineTask<{ n: number }>({
    kind: "nothing",
    run: async ({ n }) => {
      onTask(n);
      await wait(restMs * (0.5 + Math.random()));
      onEnd(n);
    },
  });
const endless = ({ onTask, onEnd }: Told) =>
  defineTask<{ n: number }>({
    kind: "nothing",
    run: async ({ n }, { signal }) => {
      onTask(n);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      onEnd(n);
      signal.throwIfAborted();
    },
  });
const { task } = nothing({ onTask: () => {}, onEnd: () => {} });

function specOf({ n, resource, version, key }: LoadTask) {
  return task(
    { n },
    {
      ...(resource !== undefined && { resources: [{ name: resource, mode: "exclusive" as const }] }),
      ...(version !== undefined && { version }),
      ...(key !== undefined && { concurrencyKey: `shop:${key}` }),
    },
  );
}

async function withScheduler(url: string, act: (scheduler: Scheduler) => Promise<void>): Promise<void> {
  const scheduler = createScheduler({ databaseUrl: url, queryTimeoutMs: 120_000 });
  try {
    await act(scheduler);
  } finally {
    await scheduler.stop();
  }
}

async function enqueueLoad(url: string, { tasks, runLimit, keyLimit }: Load): Promise<void> {
  await withScheduler(url, async (scheduler) => {
    if (keyLimit !== undefined) await scheduler.setKeyLimit(KEYS, keyLimit);
    if (runLimit === undefined) {
      await scheduler.enqueueMany(tasks.map(specOf));
      return;
    }
    for (const run of new Set(tasks.map((each) => each.run))) {
      const own = tasks.filter((each) => each.run === run);
      await scheduler.enqueueMany(own.map(specOf), { run: { title: `run ${run}`, limit: runLimit } });
    }
  });
}

export const signalbox: Contestant = {
  name: "Signalbox",
  install: async (url) => await withScheduler(url, async (scheduler) => void (await scheduler.migrate())),
  openEnqueuer: async (url) => {
    const scheduler = createScheduler({ databaseUrl: url });
    return {
      addMany: async (tasks) => void (await scheduler.enqueueMany(tasks.map(specOf))),
      addOne: async (each) => void (await scheduler.enqueue(specOf(each))),
      close: async () => await scheduler.stop(),
    };
  },
  work: async (options) => {
    const { url, concurrency, restMs } = options;
    const scheduler = createScheduler({
      databaseUrl: url,
      tasks: [restMs > 0 ? slow(options) : nothing(options)],
      slots: concurrency,
      batchSize: BATCH,
    });
    await scheduler.start();
    return { stop: async () => await scheduler.stop() };
  },
  leftSql: "SELECT count(*) AS left FROM signalbox.task_run WHERE status <> 'DONE' AND kind <> 'kept'",
  keepsStays: true,
  enqueueLoad,
};

/** Its handlers wait until they are told to end, with their instance. */
export const signalboxWaiters: Contestant = {
  ...signalbox,
  name: "Signalbox, handlers that wait",
  work: async (options) => {
    const { url, concurrency } = options;
    const scheduler = createScheduler({
      databaseUrl: url,
      tasks: [endless(options)],
      slots: concurrency,
      drainMs: 0,
    });
    await scheduler.start();
    return { stop: async () => await scheduler.stop() };
  },
};
