/**
 * pg-boss 12: in batches that go on without a rest while they are full; and one job at a time, fetched and completed by
 * 24 loops, because its worker rests half a second between two single jobs.
 */

import { setTimeout as wait } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import type { Contestant, Worker, WorkOptions } from "./contestant.ts";

const QUEUE = "nothing";
const BATCH = 500;
const LOOPS = 24;
const EMPTY_MS = 50;

interface Way {
  readonly name: string;
  readonly batched: boolean;
}

export const pgBossBatched = pgBoss({ name: "pg-boss, batches", batched: true });
export const pgBossSingle = pgBoss({ name: "pg-boss", batched: false });

async function open(url: string): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    useListenNotify: true,
    supervise: false,
    schedule: false,
  });
  boss.on("error", (error) => {
    throw error;
  });
  await boss.start();
  return boss;
}

function pgBoss({ name, batched }: Way): Contestant {
  return {
    name,
    install: async (url) => {
      const boss = await open(url);
      await boss.createQueue(QUEUE, { notify: true });
      await boss.stop({ graceful: false });
    },
    openEnqueuer: async (url) => {
      const boss = await open(url);
      return {
        addMany: async (tasks) => {
          await boss.insert(
            QUEUE,
            tasks.map(({ n }) => ({ data: { n } })),
          );
        },
        addOne: async ({ n }) => {
          await boss.send(QUEUE, { n });
        },
        close: async () => await boss.stop({ graceful: false }),
      };
    },
    work: batched ? workInBatches : workOneByOne,
    leftSql: "SELECT count(*) AS left FROM pgboss.job WHERE state < 'completed'",
  };
}

async function workInBatches({ url, concurrency, onTask, onEnd }: WorkOptions): Promise<Worker> {
  const boss = await open(url);
  const options = {
    pollingIntervalSeconds: 0.5,
    batchSize: Math.min(BATCH, concurrency),
    burstWhenBatchFull: true,
  };
  await boss.work<{ n: number }>(QUEUE, options, async (jobs) => {
    for (const { data } of jobs) {
      onTask(data.n);
      onEnd(data.n);
    }
  });
  return { stop: async () => await boss.stop() };
}

async function workOneByOne({ url, concurrency, onTask, onEnd }: WorkOptions): Promise<Worker> {
  const boss = await open(url);
  let stopped = false;
  const work = async (): Promise<void> => {
    while (!stopped) {
      const [job] = await boss.fetch<{ n: number }>(QUEUE);
      if (job === undefined) await wait(EMPTY_MS);
      else {
        onTask(job.data.n);
        onEnd(job.data.n);
        await boss.complete(QUEUE, job.id);
      }
    }
  };
  const loops = Array.from({ length: Math.min(concurrency, LOOPS) }, work);
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      await boss.stop();
    },
  };
}
