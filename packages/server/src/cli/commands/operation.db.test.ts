/** Cancels and retries of many as they are typed, `operation` and `task defer`, against a server that answers. */

import { defineTask, type Operation } from "@signalbox/core";
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
  run: () => {
    throw new Error("Not yet");
  },
});
const LATER = new Date("2090-01-01T00:00:00Z");

let database: TestDatabase;
let scheduler: ManualScheduler;
let api: FastifyInstance;
let server: string;

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [flaky] });
  api = createApi({ scheduler, serverId: "server-1", logger: { error: () => {} } });
  server = (await listenOnLoopback(api, 28_610)).url;
});

afterAll(async () => {
  await api.close();
  await scheduler.close();
  await database.drop();
});

async function typed(...words: readonly string[]) {
  const said: string[] = [];
  const notes: string[] = [];
  let exitCode: number = EXIT.ok;
  const output = {
    look: PLAIN_LOOK,
    data: (line: string) => said.push(line),
    note: (line: string) => notes.push(line),
    whenClosed: () => {},
  };
  const program = createProgram(output, true, (code) => {
    exitCode = code;
  });
  await program.parseAsync([...words, "--server", server], { from: "user" });
  return { said: said.join("\n"), notes, exitCode };
}

async function enqueueFailed(tag: string, count: number): Promise<void> {
  await scheduler.enqueueMany(
    Array.from({ length: count }, (_, index) => flaky.task(index, { tags: [tag], title: `${tag} ${index}` })),
  );
  await scheduler.runUntilIdle();
}

async function newest(): Promise<Operation> {
  const [operation] = (await scheduler.listOperations({ limit: 1 })).operations;
  if (operation === undefined) throw new Error("There is no operation");
  return operation;
}

test("retry with a filter begins an operation, says how far it is, and ends with it", async () => {
  await enqueueFailed("eu", 3);

  const watched = typed(
    "retry",
    "--status",
    "failed",
    "--tag",
    "eu",
    "--reason",
    "the disk is back",
    "--interval",
    "20ms",
  );
  await expect.poll(async () => await scheduler.carryOn(), { timeout: 20_000 }).toBe(true);
  const { said, exitCode } = await watched;

  expect(exitCode).toBe(EXIT.ok);
  expect(said).toContain("3 of 3 done");
  expect(said).toContain("status:failed tag:eu");
  expect(await newest()).toMatchObject({
    verb: "retry",
    done: 3,
    reason: "the disk is back",
    by: expect.any(String),
  });
});

test("--dry-run says what would be done, and why not about the others", async () => {
  await enqueueFailed("dry", 2);
  await scheduler.enqueue(flaky.task(1, { tags: ["dry"], runAt: LATER }));

  const { said } = await typed("retry", "--tag", "dry", "--dry-run");

  expect(said).toContain("Would retry 2 of 3 task runs.\n  not 1 that had not ended\n");
  expect(said).toMatch(/ {2}dry 1 {2}failed {2}[0-9a-f-]+/);
});

test("more than fifty want --yes where nobody can be asked", async () => {
  await enqueueFailed("many", 51);

  await expect(typed("cancel", "--tag", "many", "--status", "failed")).resolves.toMatchObject({
    notes: ["There is nothing to cancel."],
  });
  await expect(typed("retry", "--tag", "many")).rejects.toThrow("Retry 51 task runs?");
  const { said } = await typed("retry", "--tag", "many", "--yes", "--detach");
  expect(said).toMatch(/^Operation [0-9a-f-]{36} goes on by itself\.$/);
});

test("operation list, show and abort", async () => {
  await enqueueFailed("abort", 1);
  const { said: name } = await typed("retry", "--tag", "abort", "--detach", "-o", "name");

  const aborted = await typed("operation", "abort", name, "--reason", "wrong tag");
  const again = await typed("operation", "abort", name);
  const list = await typed("operation", "list", "--status", "aborted");
  const shown = await typed("operation", "show", name.slice(0, 30));

  expect(aborted.said).toBe(`It goes on no further; 0 of 1 done.  ${name}`);
  expect(again.said).toBe(`It was over already (aborted); nothing changed.  ${name}`);
  expect(list.said).toMatch(/STATUS +ID +VERB.*\n⊘ aborted +[0-9a-f-]+ +retry +0 +0 +0/);
  expect(shown.said).toContain("wrong tag");
  expect((await typed("operation", "watch", name)).exitCode).toBe(EXIT.canceled);
  await expect(typed("operation", "show", "ffff")).rejects.toMatchObject({
    problem: { code: "OPERATION_NOT_FOUND" },
  });
});

test("what was skipped is named with why", async () => {
  await enqueueFailed("skip", 2);
  const { said: name } = await typed("retry", "--tag", "skip", "--detach", "-o", "name");
  const [first] = (await scheduler.list({ tag: "skip", limit: 1 })).taskRuns;
  if (first === undefined) throw new Error("None failed");
  await scheduler.retry(first.taskRunId);
  while (await scheduler.carryOn());

  const { said } = await typed("operation", "show", name);

  expect(said).toContain("1 of 2 done, 1 skipped");
  expect(said).toContain("1 were followed by another attempt");
  expect(said).toMatch(/ {2}skipped {2}skip 1 {2}[0-9a-f-]+ {2}LATER_ATTEMPT/);
});

test("task defer gives another run time", async () => {
  const { taskRunId } = await scheduler.enqueue(flaky.task(1));

  const { said } = await typed("task", "defer", taskRunId, "--until", "2090-01-01T00:00:00Z", "--tz", "UTC");

  expect(said).toMatch(/^"flaky" waits until .*2090.*\. {2}[0-9a-f-]{36}$/);
  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "PENDING", runAt: LATER });
  await expect(typed("task", "defer", taskRunId, "--until", "tomorrow")).rejects.toThrow(
    '--until is "tomorrow"',
  );
});
