/**
 * What an instance weighs after many tasks. Resident memory (VmRSS) as the system counts it, with everything in it: Node, the lease's
 * thread, garbage that nobody has collected yet. Collected on purpose is only where it is asked what is alive.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createScheduler, exclusive, type Scheduler, type TaskSpec } from "@signalbox/core";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { inject, onTestFinished } from "vitest";
import { memoryOf } from "../ha/task-processes.ts";
import { until } from "../ha/until.ts";

const BATCH = 500;

interface Weight {
  /** Bytes of resident memory: at the start, in the end, and the highest of all. */
  readonly atStart: number;
  readonly inTheEnd: number;
  readonly highest: number;
  /** The lowest of each stretch: between two collections memory rises by itself. */
  readonly lowest: readonly number[];
  /** Of the heap after a collection, as often as it was asked for. */
  readonly alive: readonly number[];
  readonly seconds: number;
}

/** As many tasks in each stretch, whole batches of them, and as many stretches from one `alive` to the next. */
export async function weighInstance({
  tasks,
  stretches,
  alive: times,
}: {
  readonly tasks: number;
  readonly stretches: number;
  readonly alive: number;
}): Promise<Weight> {
  const database = await createTestDatabase(inject("adminUrl"));
  onTestFinished(async () => await database.drop());
  const client = createScheduler({ databaseUrl: database.url, name: "client" });
  onTestFinished(async () => await client.stop());
  const instance = await startInstance(database.url);
  const pid = instance.pid ?? 0;
  const from = performance.now();
  const atStart = memoryOf(pid).now;
  const lowest: number[] = [];
  const alive: number[] = [];
  let weighed = memoryOf(pid);
  for (let stretch = 1, done = 0; stretch <= stretches; stretch += 1) {
    let least = Number.POSITIVE_INFINITY;
    for (; done < (tasks * stretch) / stretches; done += BATCH) {
      await runBatch(client, database);
      least = Math.min(least, memoryOf(pid).now);
    }
    lowest.push(least);
    weighed = memoryOf(pid);
    if ((stretch * times) % stretches === 0) alive.push(await aliveIn(instance));
  }
  return {
    atStart,
    inTheEnd: weighed.now,
    highest: weighed.highest,
    lowest,
    alive,
    seconds: (performance.now() - from) / 1_000,
  };
}

async function aliveIn(instance: ChildProcess): Promise<number> {
  instance.send("how much is alive");
  const [{ heapUsed }] = (await once(instance, "message")) as [{ readonly heapUsed: number }];
  return heapUsed;
}

async function startInstance(databaseUrl: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL("./memory-process.mjs", import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", file], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  child.send({ databaseUrl });
  await once(child, "message");
  return child;
}

/** Of every sort: free, in a run, at a resource, failing with a second attempt, with a log. */
async function runBatch(scheduler: Scheduler, { client: db }: TestDatabase): Promise<void> {
  const specs = Array.from({ length: BATCH }, (_, index): TaskSpec => {
    const input = { index, text: "x".repeat(200) };
    if (index % 50 === 0) return { kind: "failing", input, retry: { attempts: 2, backoff: { firstMs: 0 } } };
    if (index % 10 === 1) return { kind: "talking", input };
    if (index % 10 === 2) return { kind: "small", input, resources: [exclusive(`r${index}`)] };
    return { kind: "small", input };
  });
  await scheduler.enqueueMany(specs.slice(0, BATCH / 2), { run: { title: "batch", limit: 100 } });
  await scheduler.enqueueMany(specs.slice(BATCH / 2));
  await until(
    "the batch is done",
    async () => {
      const { rows } = await db.query<{ left: number }>(`
        SELECT (SELECT count(*) FROM signalbox.waiting) + (SELECT count(*) FROM signalbox.ready)
               + (SELECT count(*) FROM signalbox.claim_batch) AS left`);
      return Number(rows[0]?.left) === 0;
    },
    { withinMs: 60_000, everyMs: 10, instead: async () => await whatIsLeft(db) },
  );
}

/** Who is in the work sets, in which status, and since when. */
async function whatIsLeft(db: TestDatabase["client"]): Promise<string> {
  const { rows } = await db.query(`
    SELECT 'waiting' AS place, w.blocked_on, w.blocked_key, t.status, count(*)::integer, max(clock_timestamp() - w.blocked_since) AS since
      FROM signalbox.waiting AS w JOIN signalbox.task_run AS t ON t.id = w.task_run_id GROUP BY 2, 3, 4
    UNION ALL
    SELECT 'ready', r.kind, r.queue, t.status, count(*), max(clock_timestamp() - r.available_at)
      FROM signalbox.ready AS r JOIN signalbox.task_run AS t ON t.id = r.task_run_id GROUP BY 2, 3, 4
    UNION ALL
    SELECT 'claim_batch', b.claim_no::text, NULL, t.status, count(*), max(clock_timestamp() - b.claimed_at)
      FROM signalbox.claim_batch AS b JOIN signalbox.task_run AS t ON t.id = ANY (b.task_run_ids) GROUP BY 2, 4
    UNION ALL
    SELECT 'gate_wake', key, NULL, NULL, 1, due_at - clock_timestamp() FROM signalbox.gate_wake
    UNION ALL
    SELECT 'instance', name, state, NULL, slots, clock_timestamp() - beat_at FROM signalbox.instance`);
  return JSON.stringify(rows);
}
