/** What the guide shows about retries and outside jobs is what runs here. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { makeReport, report } from "../../examples/embed/src/outside-job.ts";
import { order, sendOrder } from "../../examples/embed/src/retries.ts";
import { blocksIn, read } from "../unit/markdown.ts";

let database: TestDatabase;
let scheduler: ManualScheduler;
let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [sendOrder, makeReport] });
  server = createServer((request, response) => answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await scheduler.close();
  await database.drop();
});

async function step(): Promise<void> {
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
}

describe("docs/guide", () => {
  it.each([
    ["docs/guide/retries-and-timeouts.md", "examples/embed/src/retries.ts"],
    ["docs/guide/outside-jobs.md", "examples/embed/src/outside-job.ts"],
  ])("%s shows the code of %s", (page, file) => {
    expect(blocksIn(read(page), "ts")[0]).toBe(read(file).trim());
  });

  it.each([
    [423, { status: "PENDING", attempt: 1, blockedOn: "RUN_AT" }],
    [429, { status: "PENDING", attempt: 2, blockedOn: "RUN_AT" }],
    [404, { status: "FAILED", attempt: 1 }],
    [500, { status: "PENDING", attempt: 2, blockedOn: "RUN_AT" }],
    [200, { status: "DONE", attempt: 1, output: { ok: true } }],
  ])("an order that is answered with %d", async (status, became) => {
    answer = (_, response) => response.writeHead(status).end(JSON.stringify({ ok: true }));
    const { taskId } = await scheduler.enqueue(order(url, "17"));

    await step();

    expect(await scheduler.get(taskId)).toMatchObject(became);
  });

  it("a report is asked for once, polled, and DONE when it is made", async () => {
    const asked: string[] = [];
    let state = "working";
    answer = (request, response) => {
      asked.push(request.method ?? "");
      response.end(JSON.stringify({ state, file: "2026-11.pdf" }));
    };
    const { taskRunId } = await scheduler.enqueue(report(url, "2026-11"));
    await step();
    const due = async (): Promise<void> => {
      await database.client.query("UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp()");
      await scheduler.poll();
      await step();
    };

    await due();
    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: null });
    state = "made";
    await due();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE", output: { file: "2026-11.pdf" } });
    expect(asked).toEqual(["PUT", "GET", "GET"]);
  });
});
