/**
 * What an instance weighs after 100,000 tasks, and that it does not grow with them. Resident memory (VmRSS) as the system counts it, with
 * everything in it: Node, the lease's thread, garbage that nobody has collected yet. Collected on purpose is only where it is asked what
 * is alive, after the first third and in the end.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createScheduler, exclusive, type Scheduler, type TaskSpec } from "@signalbox/core";
import { afterEach, expect, inject, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../packages/core/src/testing/test-database.ts";
import { memoryOf } from "../ha/task-processes.ts";
import { until } from "../ha/until.ts";
import { partOf } from "./long-settings.ts";
import { writeMeasured } from "./proof.ts";

const BATCH = 500;
/** A sample is the lowest of its stretch: between two collections memory rises by itself. */
const STRETCHES = 30;
const TASKS = Math.max(partOf(100_000), STRETCHES * BATCH);
const MOST_BYTES = 150_000_000;
/** What as many tasks again would add, by the line that fits the last third best. A collection more or less moves it by ten. */
const RESIDENT_GROWS_AT_MOST_BYTES = 20_000_000;
/** What is alive after a collection knows no such chance: between the two looks so much, which is 30 bytes per task. */
const ALIVE_GROWS_AT_MOST_BYTES = 2_000_000;

let database: TestDatabase | null = null;
let client: Scheduler | null = null;
let child: ChildProcess | null = null;

afterEach(async () => {
  if (child !== null && child.exitCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await client?.stop();
  await database?.drop();
});

it(`an instance weighs less than 150 MB after ${TASKS} tasks, and does not grow`, async () => {
  database = await createTestDatabase(inject("adminUrl"));
  client = createScheduler({ databaseUrl: database.url, name: "client" });
  const pid = await startInstance(database.url);
  const from = performance.now();
  const atStart = memoryOf(pid).now;
  const lowest: number[] = [];
  const alive: number[] = [];
  let weighed = memoryOf(pid);
  for (let stretch = 1, done = 0; stretch <= STRETCHES; stretch += 1) {
    let least = Number.POSITIVE_INFINITY;
    for (; done < (TASKS * stretch) / STRETCHES; done += BATCH) {
      await runBatch(client, database);
      least = Math.min(least, memoryOf(pid).now);
    }
    lowest.push(least);
    weighed = memoryOf(pid);
    if (stretch === STRETCHES / 3 || stretch === STRETCHES) alive.push(await aliveIn(child));
  }
  const seconds = (performance.now() - from) / 1000;
  const { now: inTheEnd, highest } = weighed;
  const grows = slopeOf(lowest.slice(-STRETCHES / 3)) * STRETCHES;
  const [before = 0, after = 0] = alive;
  const sixths = lowest.filter((_, index) => (index + 1) % (STRETCHES / 6) === 0);
  writeMeasured([
    `${TASKS} tasks in ${Math.round(seconds)} s; resident memory ${mb(atStart)} MB at its start, ${mb(inTheEnd)} MB in the end, at most ${mb(highest)} MB.`,
    `At each sixth of them: ${sixths.map(mb).join(", ")} MB; the line of the last third rises by ${mb(grows)} MB per ${TASKS} tasks.`,
    `Alive after a collection: ${mb(before)} MB after the first third, ${mb(after)} MB in the end.`,
  ]);

  // Between two collections it may be above that for a moment; the printed highest tells.
  expect(inTheEnd).toBeLessThan(MOST_BYTES);
  expect(grows).toBeLessThan(RESIDENT_GROWS_AT_MOST_BYTES);
  expect(after - before).toBeLessThan(ALIVE_GROWS_AT_MOST_BYTES);
});

async function aliveIn(instance: ChildProcess | null): Promise<number> {
  if (instance === null) throw new Error("No instance was started");
  instance.send("how much is alive");
  const [{ heapUsed }] = (await once(instance, "message")) as [{ readonly heapUsed: number }];
  return heapUsed;
}

async function startInstance(databaseUrl: string): Promise<number> {
  const file = fileURLToPath(new URL("./memory-process.mjs", import.meta.url));
  child = spawn(process.execPath, ["--expose-gc", file], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.send({ databaseUrl });
  await once(child, "message");
  return child.pid ?? 0;
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
    { withinMs: 60_000, everyMs: 10 },
  );
}

/** Of the line with the least squares: so much more from one to the next. */
function slopeOf(values: readonly number[]): number {
  const mean = (all: readonly number[]): number => all.reduce((sum, each) => sum + each, 0) / all.length;
  const xs = values.map((_, index) => index);
  const [meanX, meanY] = [mean(xs), mean(values)];
  const above = values.reduce((sum, value, x) => sum + (x - meanX) * (value - meanY), 0);
  return above / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
