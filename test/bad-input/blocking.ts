/** A handler that lets nothing else happen in its thread, and what its neighbours must not notice of it. */

import { expect } from "vitest";
import { program, type Station } from "./station.ts";

/** Beside it on the same instance a process and a function, on another instance whoever waits for a chance to rescue. */
export async function blockAndExpectNoLoss(station: Station, ms: number): Promise<void> {
  const { scheduler, cluster, ended } = station;
  const blocked = await cluster.add();
  const neighbours = await scheduler.enqueueMany([
    program.task({ shell: `sleep ${(ms + 2_000) / 1000}; echo SIGNALBOX_OUTPUT:1` }),
    { kind: "work", input: { ms: ms + 2_000 } },
  ]);
  const started = async (): Promise<number> =>
    (await scheduler.list({ status: ["RUNNING"] })).taskRuns.filter(
      ({ claimedBy }) => claimedBy === blocked.bootId,
    ).length;
  await expect.poll(started, { timeout: 30_000 }).toBe(2);

  const { taskRunId } = await scheduler.enqueue({ kind: "blocking", input: { ms } });
  await expect.poll(started, { timeout: 30_000 }).toBe(3);
  const other = await cluster.add();
  // The instance is deaf; the other one works, and has no reason to take anything over.
  const elsewhere = await scheduler.enqueue({ kind: "work", input: { ms: 1 } });
  expect((await ended(elsewhere.taskRunId, 30_000)).instanceName).toBe(other.name);

  const all = [taskRunId, ...neighbours.taskRuns.map((each) => each.taskRunId)];
  for (const each of all) {
    const { outcome, attempt, instanceName } = await ended(each, ms + 60_000);
    expect({ outcome, attempt, instanceName }).toEqual({
      outcome: "SUCCEEDED",
      attempt: 1,
      instanceName: blocked.name,
    });
  }
  expect(cluster.count("instance.fenced")).toBe(0);
  expect(cluster.count("task_run.rescued")).toBe(0);
  expect(blocked.told("event_loop.lagged").map(({ lagMs }) => lagMs > ms / 2)).toContain(true);
}
