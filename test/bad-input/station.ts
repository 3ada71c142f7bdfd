/** Two instances in processes of their own, on a database of their own: one is given bad input, the other is its neighbour. */

import { join } from "node:path";
import { createScheduler, defineProcess, type Scheduler, type TaskRunDetail } from "@signalbox/core";
import pg from "pg";
import { expect } from "vitest";
import { type Cluster, createCluster } from "../ha/cluster.ts";
import { INSTANCE_SETTINGS } from "../ha/instance-messages.ts";
import type { OwnPostgres } from "../ha/own-postgres.ts";
import { until } from "../ha/until.ts";

export const program = defineProcess({ allowShell: true });

export interface Station {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  /** Resolves when it has ended. */
  readonly ended: (taskRunId: string, withinMs: number) => Promise<TaskRunDetail>;
  /** Another task is done, nothing is RUNNING and no promise is broken. */
  readonly expectWorking: () => Promise<void>;
  readonly close: () => Promise<void>;
}

let databases = 0;

export async function openStation(postgres: OwnPostgres): Promise<Station> {
  databases += 1;
  const name = `bad_input_${databases}`;
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const databaseUrl = new URL(`/${name}`, postgres.url).href;
  const scheduler = createScheduler({ databaseUrl, ...INSTANCE_SETTINGS, name: "client" });
  await scheduler.migrate();
  const cluster = createCluster({ databaseUrl, traceFile: join(postgres.dir, `${name}.jsonl`) });
  const ended: Station["ended"] = async (taskRunId, withinMs) =>
    await until(
      "it has ended",
      async () => {
        const taskRun = await scheduler.get(taskRunId);
        return taskRun.finishedAt === null ? null : taskRun;
      },
      { withinMs },
    );
  return {
    scheduler,
    cluster,
    ended,
    expectWorking: async () => {
      const { taskRunId } = await scheduler.enqueue({ kind: "work", input: { ms: 1 } });
      expect((await ended(taskRunId, 30_000)).status).toBe("DONE");
      expect((await scheduler.list({ status: ["RUNNING"] })).taskRuns).toEqual([]);
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
    close: async () => {
      await cluster.end();
      await scheduler.stop();
    },
  };
}
