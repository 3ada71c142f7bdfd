/** `enqueue`, `cancel` and `retry` as they are typed, against a server that answers. */

import { defineTask } from "@signalbox/core";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createApi } from "../../http/create-api.ts";
import { listenOnLoopback } from "../../http/listen.ts";
import { PLAIN_LOOK } from "../../render/look.ts";
import { EXIT } from "../exit-code.ts";
import { createProgram } from "../program.ts";

const flaky = defineTask({
  kind: "flaky",
  run: (_, { attempt }) => {
    if (attempt === 1) throw new Error("Not yet");
  },
});

let database: TestDatabase;
let scheduler: ManualScheduler;
let api: FastifyInstance;
let server: string;

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [flaky] });
  api = createApi({ scheduler, serverId: "server-1", logger: { error: () => {} } });
  server = (await listenOnLoopback(api, 28_410)).url;
});

afterAll(async () => {
  await api.close();
  await scheduler.close();
  await database.drop();
});

async function typed(
  ...words: readonly string[]
): Promise<{ readonly said: string; readonly exitCode: number }> {
  const said: string[] = [];
  let exitCode: number = EXIT.ok;
  const output = {
    look: PLAIN_LOOK,
    data: (line: string) => said.push(line),
    note: () => {},
    whenClosed: () => {},
  };
  const program = createProgram(output, true, (code) => {
    exitCode = code;
  });
  await program.parseAsync([...words, "--server", server], { from: "user" });
  return { said: said.join("\n"), exitCode };
}

async function enqueueRun(tasks: number): Promise<string> {
  const specs = Array.from({ length: tasks }, () => flaky.task(null));
  const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly" } });
  return runId ?? "";
}

test("enqueue with a key says the same id, however often it is typed", async () => {
  const first = await typed("enqueue", "flaky", "--idempotency-key", "order-42");

  expect(await typed("enqueue", "flaky", "--idempotency-key", "order-42")).toEqual(first);
  await expect(
    typed("enqueue", "flaky", "--priority", "1", "--idempotency-key", "order-42"),
  ).rejects.toMatchObject({
    problem: { code: "IDEMPOTENCY_KEY_REUSED" },
  });
});

test("enqueue says with what the task shares its limits, and by what lists find it", async () => {
  await scheduler.setRate("mail", { amount: 100, perMs: 1_000 });
  const names = ["--queue", "nightly", "--tag", "eu", "--tag", "monthly"];
  await typed("enqueue", "flaky", ...names, "--rate", "mail", "--concurrency-key", "customer:7");

  const { taskRuns } = await scheduler.list({ queue: "nightly", tag: "monthly" });
  expect(taskRuns).toMatchObject([
    { kind: "flaky", tags: ["eu", "monthly"], rate: "mail", concurrencyKey: "customer:7" },
  ]);
});

test("enqueue with a run time from now and a key is another request each time", async () => {
  const words = ["enqueue", "flaky", "--run-at", "+1h", "--idempotency-key", "order-43"];
  await typed(...words);

  await expect(typed(...words)).rejects.toMatchObject({ problem: { code: "IDEMPOTENCY_KEY_REUSED" } });
});

test("retry by an id says which attempt follows", async () => {
  const { taskId } = await scheduler.enqueue(flaky.task(null));
  await scheduler.runUntilIdle();

  expect((await typed("retry", taskId)).said).toMatch(/^Attempt 2 is pending\. {2}[0-9a-f-]{36}$/);
  await expect(typed("retry", taskId)).rejects.toMatchObject({ problem: { code: "NOT_RETRYABLE" } });
});

test("retry and cancel of a run say how many", async () => {
  const runId = await enqueueRun(3);
  await scheduler.runUntilIdle();

  expect((await typed("retry", "--run", runId)).said).toBe("3 failed tasks are tried again.");
  expect(await typed("cancel", "--run", runId)).toEqual({
    said: "3 canceled, 0 canceling, 0 had ended already.",
    exitCode: EXIT.ok,
  });
  expect(JSON.parse((await typed("cancel", "--run", runId, "--json")).said)).toMatchObject({ ended: 3 });
});

test.each([["cancel"], ["retry"]])("%s wants an id or a run, and not both", async (command) => {
  await expect(typed(command)).rejects.toThrow("or --run with the id of a run");
  await expect(typed(command, "8a31f2", "--run", "8a31f2")).rejects.toThrow("or --run with the id of a run");
});
