/** Log and metrics of a real instance, as a server would hang them on it. */

import { createScheduler, defineTask, type Scheduler } from "@signalbox/core";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { createApi } from "../http/create-api.ts";
import { logEvents } from "./log-events.ts";
import { createLogger } from "./logger.ts";
import { createMetrics } from "./metrics.ts";

let database: TestDatabase;
let scheduler: Scheduler;
let api: FastifyInstance;
let lines: string[];

const leaky = defineTask({
  kind: "leaky",
  run: () => {
    throw new Error(`cannot reach ${database.url}`);
  },
});

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  lines = [];
  const logger = createLogger({ level: "debug", destination: { write: (line) => void lines.push(line) } });
  const log = logEvents(logger);
  const metrics = createMetrics();
  scheduler = createScheduler({
    databaseUrl: database.url,
    tasks: [leaky],
    pollIntervalMs: 200,
    onEvent: (event) => {
      log(event);
      metrics.record(event);
    },
  });
  metrics.watch(scheduler);
  api = createApi({
    scheduler,
    serverId: "server-1",
    logger,
    metrics,
    readiness: () => ({ ...scheduler.health(), loops: {} }),
  });
});
afterEach(async () => {
  await scheduler.stop();
  await api.close();
});

async function get(
  url: string,
): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
  const { statusCode, payload, headers } = await api.inject({ url, headers: { host: "127.0.0.1" } });
  return { status: statusCode, text: payload, type: String(headers["content-type"]) };
}

test("the probes follow the instance from its start to its end", async () => {
  expect((await get("/readyz")).status).toBe(503);

  await scheduler.start();
  expect((await get("/readyz")).status).toBe(200);

  await scheduler.stop();
  expect((await get("/readyz")).status).toBe(503);
  expect((await get("/livez")).status).toBe(200);
});

test("a failure is in the log and in the metrics, and the database's URL in neither", async () => {
  await scheduler.start();
  await scheduler.enqueue(leaky.task(null));
  const failed = (): unknown[] =>
    lines
      .map((line) => JSON.parse(line) as { event: string })
      .filter(({ event }) => event === "task_run.settled");
  await vi.waitUntil(() => failed().length > 0, { timeout: 15_000 });

  const { text, type } = await get("/metrics");

  expect(failed()).toMatchObject([
    { level: "warn", kind: "leaky", outcome: "HANDLER_FAILED", message: "cannot reach postgres://[hidden]" },
  ]);
  expect(type).toContain("text/plain");
  expect(text).toContain('signalbox_task_runs_settled_total{kind="leaky",outcome="HANDLER_FAILED"} 1\n');
  expect(text).toContain('signalbox_task_run_wait_seconds_count{kind="leaky"} 1\n');
  expect(text).toContain("signalbox_instance_ready 1\n");
  expect(text).toContain('signalbox_instances{state="LIVE"} 1\n');
  expect(text).toMatch(/^signalbox_loop_last_success_timestamp_seconds\{loop="promoter"\} \d/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  const { password, host } = new URL(database.url);
  for (const secret of [password, host].filter((part) => part !== "")) {
    expect(`${text}${lines.join("")}`).not.toContain(secret);
  }
});
