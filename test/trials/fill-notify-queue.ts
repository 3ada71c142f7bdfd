/** Somebody listens and never comes to the end of a transaction: the queue of NOTIFY fills, and no hint goes through. */

import pg from "pg";
import { expect, onTestFinished } from "vitest";
import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import { settledMore } from "./settled-more.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

/** So small that it is soon full. */
export const SMALL_NOTIFY_QUEUE = { max_notify_queue_pages: "64" };

export async function fillNotifyQueue(rig: Rig, { tasks }: { readonly tasks: number }): Promise<Shown> {
  const { cluster, scheduler, db } = rig;
  const failedBefore = cluster.count("loop.failed");
  const settledBefore = cluster.count("task_run.settled");
  const guest = new pg.Client({ connectionString: rig.databaseUrl, application_name: "guest" });
  guest.on("error", () => {});
  onTestFinished(async () => await guest.end());
  await guest.connect();
  await guest.query("LISTEN nobody; BEGIN; SELECT 1");
  await until("there is no room for another one", async () => await isFull(db), { withinMs: WITHIN_MS });

  const inside = await db.connect();
  try {
    await inside.query("BEGIN");
    const spec = { kind: "work", input: { ms: 1 }, priority: 0 };
    const { taskRunId } = await scheduler.enqueue(spec, { transaction: inside });
    await inside.query("COMMIT");
    const ended = async (): Promise<boolean> => (await scheduler.get(taskRunId)).status === "DONE";
    await until("what came with a transaction of a caller is done", ended, { withinMs: WITHIN_MS });
  } finally {
    inside.release();
  }
  await settledMore(rig, tasks);
  expect(await isFull(db)).toBe(true);
  expect(cluster.count("loop.failed") - failedBefore).toBe(0);
  await guest.query("COMMIT");
  return {
    faults: { "queue filled": 1 },
    paths: { settled: cluster.count("task_run.settled") - settledBefore },
  };
}

async function isFull(db: pg.Pool): Promise<boolean> {
  const payload = "x".repeat(7_000);
  try {
    await db.query("SELECT pg_notify('flood', $1 || n) FROM generate_series(1, 100) AS n", [payload]);
    return false;
  } catch (error) {
    return error instanceof pg.DatabaseError && error.code === "54000";
  }
}
