/** Tasks as processes: whatever happens to the instance, nothing of them outlives its lease. */

import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createScheduler, defineProcess, type ProcessInput, type Scheduler } from "@signalbox/core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type Cluster, createCluster } from "./cluster.ts";
import type { Instance } from "./instance.ts";
import { INSTANCE_SETTINGS } from "./instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "./own-postgres.ts";
import { processesOf, wardenOf } from "./task-processes.ts";
import { until } from "./until.ts";

const { leaseMs } = INSTANCE_SETTINGS;
const WITHIN_MS = 60_000;
const program = defineProcess({ allowShell: true });

let postgres: OwnPostgres;
let db: pg.Pool;
let scheduler: Scheduler;
let cluster: Cluster;
let databases = 0;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(async () => {
  await postgres?.remove();
});
beforeEach(async () => {
  databases += 1;
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE processes_${databases}`);
  await admin.end();
  const databaseUrl = new URL(`/processes_${databases}`, postgres.url).href;
  db = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  db.on("error", () => {}).on("connect", (connection) => connection.on("error", () => {}));
  scheduler = createScheduler({ databaseUrl, ...INSTANCE_SETTINGS, name: "client" });
  await scheduler.migrate();
  cluster = createCluster({ databaseUrl, traceFile: join(postgres.dir, `processes-${databases}.jsonl`) });
});
afterEach(async () => {
  await cluster?.end();
  await scheduler?.stop();
  await db?.end();
});

/** Something that obeys, something that does not, and something that has children of its own. */
const KINDS_OF_CHILDREN = [
  "exec sleep 300",
  "trap '' TERM; while :; do sleep 1; done",
  "(trap '' TERM; sleep 300) & sleep 300 & wait",
];

async function enqueue(...inputs: readonly ProcessInput[]): Promise<readonly string[]> {
  const { taskRuns } = await scheduler.enqueueMany(inputs.map((input) => program.task(input)));
  return taskRuns.map(({ taskRunId }) => taskRunId);
}

async function startedOn(instance: Instance): Promise<readonly string[]> {
  const taskRunIds = await enqueue(...KINDS_OF_CHILDREN.map((shell) => ({ shell })));
  // One, one with its sleep, and one with two children.
  await until("all children are there", () => processesOf(taskRunIds).length >= 6, {
    withinMs: WITHIN_MS,
    // A lease of three seconds may be lost before, on a machine that is busy with something else.
    instead: () => `${processesOf(taskRunIds).length} processes; fenced ${instance.count("instance.fenced")}`,
  });
  expect(instance.count("task_run.claimed")).toBe(taskRunIds.length);
  return taskRunIds;
}

/** Answers what the database says of the lease at that moment. */
async function goneWithin(taskRunIds: readonly string[]): Promise<{ readonly leaseLeftMs: number }> {
  await until("nothing is left of them", () => processesOf(taskRunIds).length === 0, {
    withinMs: WITHIN_MS,
    everyMs: 10,
  });
  const { rows } = await db.query<{ leaseLeftMs: number }>(`
    SELECT extract(epoch FROM max(expires_at) - clock_timestamp()) * 1000 AS "leaseLeftMs"
      FROM signalbox.instance`);
  return { leaseLeftMs: Number(rows[0]?.leaseLeftMs) };
}

it("leaves no process behind when the instance is killed, long before its lease ends", async () => {
  const instance = await cluster.add();
  const taskRunIds = await startedOn(instance);
  const [{ parentPid } = { parentPid: 0 }] = processesOf(taskRunIds);
  const warden = wardenOf(parentPid);

  await instance.kill();

  const { leaseLeftMs } = await goneWithin(taskRunIds);
  // The end of the instance is enough: the deadline of the lease would come later.
  expect(leaseLeftMs).toBeGreaterThan(leaseMs / 4);
  for (const pid of [warden, parentPid])
    await until("the warden is gone too", () => !existsSync(`/proc/${pid}`), { withinMs: WITHIN_MS });
});

it("takes over at once on the same host when the instance was killed, but not before its processes have ended", async () => {
  const settings = { leaseMs: 60_000 };
  const instance = await cluster.add({ settings });
  const taskRunIds = await startedOn(instance);
  await instance.kill();

  await cluster.add({ settings });

  await until("all are rescued", async () => (await outcomes("LEASE_LOST")) === 3, {
    // One of the children ignores its signal for the whole grace; the lease would end much later.
    withinMs: 30_000,
    everyMs: 10,
  });
  expect(processesOf(taskRunIds)).toEqual([]);
});

it("ends the processes of a frozen instance before its lease ends, and others go on", async () => {
  const instance = await cluster.add();
  const taskRunIds = await startedOn(instance);

  instance.freeze();
  const { leaseLeftMs } = await goneWithin(taskRunIds);
  expect(leaseLeftMs).toBeGreaterThan(0);
  await cluster.add();
  await until("the other one runs their next attempts", async () => (await outcomes("LEASE_LOST")) === 3, {
    withinMs: WITHIN_MS,
  });
  instance.wake();

  await until("it knows that it lost its lease", () => instance.count("instance.fenced") > 0, {
    withinMs: WITHIN_MS,
  });
  expect(await outcomes("PROCESS_KILLED")).toBe(0);
});

it("lets processes live while the main loop is blocked for longer than a lease", async () => {
  const instance = await cluster.add();
  const [taskRunId = ""] = await enqueue({ shell: `sleep ${(2 * leaseMs) / 1000}; echo SIGNALBOX_OUTPUT:1` });
  await until("it runs", () => processesOf([taskRunId]).length > 0, { withinMs: WITHIN_MS });

  await scheduler.enqueue({ kind: "blocking", input: { ms: 2.5 * leaseMs } });

  await until("it is DONE", async () => (await scheduler.get(taskRunId)).status === "DONE", {
    withinMs: WITHIN_MS,
  });
  expect((await scheduler.get(taskRunId)).output).toBe(1);
  expect(instance.count("instance.fenced")).toBe(0);
});

it("lets a process live for longer than a lease after somebody removed its folder, beside the next warden", async () => {
  const instance = await cluster.add();
  const [first = ""] = await enqueue({ shell: `sleep ${(2 * leaseMs) / 1000}; echo SIGNALBOX_OUTPUT:1` });
  await until("it runs", () => processesOf([first]).length > 0, { withinMs: WITHIN_MS });
  const [{ parentPid } = { parentPid: 0 }] = processesOf([first]);
  const warden = wardenOf(parentPid);
  const [, folder = ""] =
    /\0(\/[^\0]*signalbox-[^\0/]+)\0/.exec(readFileSync(`/proc/${warden}/cmdline`, "utf8")) ?? [];

  const beats = instance.count("lease.renewed");
  await until("the warden has heard a beat", () => instance.count("lease.renewed") > beats + 1, {
    withinMs: WITHIN_MS,
  });

  await rm(folder, { recursive: true });
  const [next = ""] = await enqueue({ shell: "echo SIGNALBOX_OUTPUT:$PPID" });

  await until("both are DONE", async () => (await outcomes("SUCCEEDED")) === 2, { withinMs: WITHIN_MS });
  expect((await scheduler.get(first)).output).toBe(1);
  expect((await scheduler.get(next)).output).not.toBe(parentPid);
  expect(instance.count("instance.fenced")).toBe(0);
  await until("the first warden is gone", () => !existsSync(`/proc/${warden}`), { withinMs: WITHIN_MS });
});

it("ends processes while the database is away for longer than a lease", async () => {
  await cluster.add();
  const taskRunIds = await startedOn(cluster.all[0] as Instance);

  await postgres.restart("immediate", async () => {
    await until("nothing is left of them", () => processesOf(taskRunIds).length === 0, {
      withinMs: WITHIN_MS,
    });
  });

  await until("they were rescued", async () => (await outcomes("LEASE_LOST")) === 3, { withinMs: WITHIN_MS });
});

it("refuses the result of a process that ended well after its lease was lost", async () => {
  const instance = await cluster.add();
  const [taskRunId = ""] = await enqueue({ shell: "sleep 1; echo SIGNALBOX_OUTPUT:1" });
  const [{ parentPid }] = await until(
    "it runs",
    () => {
      const [first] = processesOf([taskRunId]);
      return first === undefined ? null : ([first] as const);
    },
    { withinMs: WITHIN_MS },
  );
  // The whole machine stands still but for the process itself.
  const wardens = [parentPid, wardenOf(parentPid)];
  for (const pid of wardens) process.kill(pid, "SIGSTOP");
  instance.freeze();
  await until("the process has ended", () => processesOf([taskRunId]).length === 0, { withinMs: WITHIN_MS });
  await cluster.add();
  await until("it was rescued", async () => (await outcomes("LEASE_LOST")) === 1, { withinMs: WITHIN_MS });

  for (const pid of wardens) process.kill(pid, "SIGCONT");
  instance.wake();

  await until("the next attempt is DONE", async () => (await outcomes("SUCCEEDED")) === 1, {
    withinMs: WITHIN_MS,
  });
  await until("the old result was refused", () => instance.count("task_run.refused") > 0, {
    withinMs: WITHIN_MS,
  });
  expect((await scheduler.get(taskRunId)).outcome).toBe("LEASE_LOST");
});

it("ends the whole group of a canceled task run within its grace", async () => {
  const instance = await cluster.add();
  const taskRunIds = await startedOn(instance);
  const from = performance.now();

  for (const taskRunId of taskRunIds) await scheduler.cancel(taskRunId);
  await goneWithin(taskRunIds);

  // The grace, a beat in case that the NOTIFY was lost, and a second for a busy machine.
  expect(performance.now() - from).toBeLessThan(500 + INSTANCE_SETTINGS.beatMs + 2_000);
  await until("they are CANCELED", async () => (await outcomes("CANCELED")) === 3, { withinMs: WITHIN_MS });
});

async function outcomes(outcome: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM signalbox.task_run WHERE outcome = $1",
    [outcome],
  );
  return rows[0]?.count ?? 0;
}
