/** graphile-worker 0.18: plain, and with its local queue and batched completion, as its page on performance recommends. */

import { setTimeout as wait } from "node:timers/promises";
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import type { Contestant, LoadTask } from "./contestant.ts";

const TASK = "nothing";
const quiet = new Logger(() => () => {});
/** What its page on performance ran with. */
const LOCAL_QUEUE = 500;
const BATCH_DELAY_MS = 0;

interface Way {
  readonly name: string;
  readonly batched: boolean;
  /** At most as many as everybody has; its own figures were made with 24. */
  readonly concurrency: (given: number) => number;
}

export const graphileBatched = graphile({
  name: "graphile-worker, batched",
  batched: true,
  concurrency: (given) => Math.min(given, 24),
});
/** Not as its page recommends: as many at a time as we have slots. */
export const graphileWide = graphile({
  name: "graphile-worker, batched, 500 at a time",
  batched: true,
  concurrency: (given) => given,
});
export const graphilePlain = graphile({
  name: "graphile-worker",
  batched: false,
  concurrency: (given) => given,
});

function graphile({ name, batched, concurrency }: Way): Contestant {
  return {
    name,
    install: async (url) => await runMigrations({ connectionString: url, logger: quiet }),
    openEnqueuer: async (url) => {
      const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
      return {
        addMany: async (tasks) => {
          await utils.addJobs(
            tasks.map((task) => ({ identifier: TASK, payload: { n: task.n }, ...queueOf(task) })),
          );
        },
        addOne: async (task) => {
          await utils.addJob(TASK, { n: task.n }, queueOf(task));
        },
        close: async () => await utils.release(),
      };
    },
    work: async ({ url, concurrency: given, restMs, onTask, onEnd }) => {
      const concurrentJobs = concurrency(given);
      const quick = (payload: unknown): void => {
        const { n } = payload as { n: number };
        onTask(n);
        onEnd(n);
      };
      const slow = async (payload: unknown): Promise<void> => {
        const { n } = payload as { n: number };
        onTask(n);
        await wait(restMs * (0.5 + Math.random()));
        onEnd(n);
      };
      const runner = await run({
        taskList: {
          [TASK]: restMs > 0 ? slow : quick,
        },
        preset: {
          worker: {
            connectionString: url,
            concurrentJobs,
            maxPoolSize: Math.max(10, Math.min(concurrentJobs + 2, 26)),
            logger: quiet,
            ...(batched && {
              localQueue: { size: LOCAL_QUEUE },
              completeJobBatchDelay: BATCH_DELAY_MS,
              failJobBatchDelay: BATCH_DELAY_MS,
            }),
          },
        },
        noHandleSignals: true,
      });
      return { stop: async () => await runner.stop() };
    },
    leftSql: "SELECT count(*) AS left FROM graphile_worker._private_jobs",
  };
}

/** A named queue runs one at a time: what comes nearest to a resource held alone. */
function queueOf({ resource }: LoadTask): { readonly queueName?: string } {
  return resource === undefined ? {} : { queueName: resource };
}
