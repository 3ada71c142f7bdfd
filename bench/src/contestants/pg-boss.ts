/** pg-boss 12: one job at a time, and in batches that go on without a rest while they are full. */

import { PgBoss } from "pg-boss";
import type { Contestant } from "./contestant.ts";

const QUEUE = "nothing";
const BATCH = 500;

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
    work: async ({ url, concurrency, onTask }) => {
      const boss = await open(url);
      await boss.work<{ n: number }>(
        QUEUE,
        {
          pollingIntervalSeconds: 0.5,
          batchSize: batched ? Math.min(BATCH, concurrency) : 1,
          ...(batched
            ? { burstWhenBatchFull: true }
            : { localConcurrency: Math.min(concurrency, 24), burstWhenReadyExceeds: 1 }),
        },
        async (jobs) => {
          for (const { data } of jobs) onTask(data.n);
        },
      );
      return { stop: async () => await boss.stop() };
    },
    leftSql: "SELECT count(*) AS left FROM pgboss.job WHERE state < 'completed'",
  };
}
