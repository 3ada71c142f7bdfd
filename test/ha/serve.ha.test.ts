/** `signalbox serve` as a service runs it: real processes on a real database. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { freePort, type Server, startCommand, startServer, TOKEN } from "./serve-process.ts";

const SECRET = "an-input-that-nobody-may-read";

let database: TestDatabase;
let dir: string;
const servers: Server[] = [];

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  dir = await mkdtemp(join(tmpdir(), "signalbox-serve-"));
});

afterEach(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await Promise.all(servers.splice(0).map(async ({ ended }) => await ended));
  await database.clear();
});

afterAll(async () => {
  await database.drop();
  await rm(dir, { recursive: true });
});

async function serve(
  ...given: Parameters<typeof startServer> extends [string, (infer Options)?] ? [Options?] : never
) {
  const server = await startServer(database.url, ...given);
  servers.push(server);
  return server;
}

async function enqueue({ ask }: Server, file: string): Promise<string> {
  const body = JSON.stringify({ kind: "wait-for-file", input: { file, secret: SECRET } });
  const { status, json } = await ask("/api/v1/task-runs", { method: "POST", body });
  expect(status).toBe(201);
  return (json as { readonly taskRunId: string }).taskRunId;
}

async function statusOf(taskRunId: string): Promise<string | undefined> {
  const { rows } = await database.client.query<{ status: string }>(
    "SELECT status FROM signalbox.task_run WHERE id = $1",
    [taskRunId],
  );
  return rows[0]?.status;
}

async function becomes(taskRunId: string, status: string): Promise<void> {
  await expect.poll(async () => await statusOf(taskRunId), { timeout: 30_000 }).toBe(status);
}

/** A connection on which a request has begun before the server leaves, and is ended after. */
async function beginRequest({ port }: Server, beginning: string): Promise<(rest: string) => Promise<string>> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    answer += chunk;
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) =>
    socket.write(beginning, (error) => (error ? reject(error) : resolve())),
  );
  return async (rest) => {
    socket.write(rest);
    await closed;
    return answer;
  };
}

describe("a server with tasks", () => {
  test("is ready loop by loop, lets in who has the token, executes, and keeps secrets out of its log", async () => {
    const server = await serve({ env: { SIGNALBOX_ENV_NAME: "staging", SIGNALBOX_LOG_LEVEL: "debug" } });
    const wrong = { headers: { authorization: "Bearer wrong-horse-battery-staple" } };
    await expect.poll(async () => (await server.ask("/readyz", wrong)).status).toBe(200);

    expect((await server.ask("/readyz", wrong)).json).toMatchObject({
      problems: [],
      loops: { promoter: "ok", claimer: "ok", rescuer: "ok" },
    });
    expect(await server.ask("/api/v1/overview", wrong)).toMatchObject({
      status: 401,
      json: { code: "UNAUTHENTICATED" },
    });
    expect(await server.ask("/api/v1/overview", { headers: { authorization: "" } })).toMatchObject({
      status: 401,
    });
    expect((await server.ask("/api/v1/about")).json).toMatchObject({
      mode: "serve",
      environmentName: "staging",
    });
    const file = join(dir, "executes");
    const taskRunId = await enqueue(server, file);
    await writeFile(file, "");
    await becomes(taskRunId, "DONE");
    expect((await server.ask(`/api/v1/task-runs/${taskRunId}`)).json).toMatchObject({ output: "seen" });

    server.kill("SIGTERM");
    const { code, stdout, stderr } = await server.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    for (const secret of [TOKEN, SECRET, database.url, "wrong-horse"]) expect(stderr).not.toContain(secret);
    for (const line of stderr.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
  });

  test("drains on SIGTERM: not ready, no new connection, what has begun goes to its end", async () => {
    const server = await serve();
    const file = join(dir, "drains");
    const taskRunId = await enqueue(server, file);
    await becomes(taskRunId, "RUNNING");
    const readiness = await beginRequest(server, "GET /readyz HTTP/1.1\r\nhost: x\r\n");
    const body = JSON.stringify({ kind: "wait-for-file", input: { file } });
    const creation = await beginRequest(
      server,
      `POST /api/v1/task-runs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    // Both have arrived when a later one is answered.
    await server.ask("/healthz");

    server.kill("SIGTERM");
    await server.says('"instance.draining"');

    await expect(fetch(`${server.url}/livez`)).rejects.toThrow("fetch failed");
    const notReady = await readiness("\r\n");
    expect(notReady).toMatch(/^HTTP\/1\.1 503 /);
    expect(notReady).toContain('"DRAINING"');
    const created = await creation(body.slice(10));
    expect(created).toMatch(/^HTTP\/1\.1 201 /);
    // Else the server would wait for a connection on which nobody asks anything.
    expect(created).toMatch(/\r\nconnection: close\r\n/i);
    expect(await statusOf(taskRunId)).toBe("RUNNING");
    await writeFile(file, "");
    expect((await server.ended).code).toBe(0);
    expect(await statusOf(taskRunId)).toBe("DONE");
  });

  test("waits no longer than it may: what still runs is told to end", async () => {
    const server = await serve({ words: ["--drain", "50ms"] });
    const taskRunId = await enqueue(server, join(dir, "never"));
    await becomes(taskRunId, "RUNNING");

    server.kill("SIGINT");

    expect((await server.ended).code).toBe(0);
    const { rows } = await database.client.query("SELECT outcome FROM signalbox.task_run WHERE id = $1", [
      taskRunId,
    ]);
    expect(rows).toEqual([{ outcome: "SHUTDOWN" }]);
  });

  test.each([
    ["SIGTERM", 1],
    ["SIGINT", 130],
  ] as const)("is gone at once with a second %s", async (signal, code) => {
    const server = await serve();
    await becomes(await enqueue(server, join(dir, "never")), "RUNNING");
    server.kill(signal);
    await server.says('"instance.draining"');

    server.kill(signal);

    expect((await server.ended).code).toBe(code);
  });
});

test("two on one database share the work, and one without tasks claims nothing", async () => {
  const [first, second] = await Promise.all([
    serve({ env: { SIGNALBOX_INSTANCE_NAME: "inst-a" } }),
    serve({ env: { SIGNALBOX_INSTANCE_NAME: "inst-b" }, tasks: false, words: ["--base-path", "/signalbox"] }),
  ]);
  const file = join(dir, "shares");
  const taskRunId = await enqueue(first, file);
  await writeFile(file, "");
  await becomes(taskRunId, "DONE");

  expect((await second.ask("/signalbox/readyz")).status).toBe(200);
  expect((await second.ask(`/signalbox/api/v1/task-runs/${taskRunId}`)).json).toMatchObject({
    instanceName: "inst-a",
  });
  first.kill("SIGTERM");
  await first.ended;
  const gated = JSON.stringify({ kind: "wait-for-file", resources: [{ name: "db", mode: "exclusive" }] });
  const { json } = await second.ask("/signalbox/api/v1/task-runs", { method: "POST", body: gated });
  const { taskRunId: waiting } = json as { readonly taskRunId: string };
  const look = async () => (await second.ask(`/signalbox/api/v1/task-runs/${waiting}`)).json;
  await expect.poll(look, { timeout: 30_000 }).toMatchObject({ status: "PENDING", blockedOn: "NO_EXECUTOR" });
  const { json: overview } = await second.ask("/signalbox/api/v1/overview");
  const { instances } = overview as { readonly instances: readonly object[] };
  expect(instances).toContainEqual(
    expect.objectContaining({ name: "inst-a", state: "DEAD", leftAt: expect.any(String) }),
  );
  expect(instances).toContainEqual(expect.objectContaining({ name: "inst-b", state: "LIVE", kinds: [] }));
});

describe("it does not start", () => {
  const refused = async (words: readonly string[], env: Record<string, string>) => {
    const { code, stderr } = await startCommand(["serve", ...words], env).ended;
    return { code, said: stderr.trim() };
  };

  test("without a token, with a short one, or without a database", async () => {
    const answers = await Promise.all([
      refused([], { DATABASE_URL: database.url }),
      refused([], { DATABASE_URL: database.url, SIGNALBOX_TOKEN: "changeme" }),
      refused([], { SIGNALBOX_TOKEN: TOKEN }),
      refused([], {
        DATABASE_URL: "postgres://127.0.0.1:1/none",
        SIGNALBOX_TOKEN: TOKEN,
        SIGNALBOX_LOG_LEVEL: "error",
      }),
    ]);

    expect(answers).toEqual([
      { code: 2, said: expect.stringMatching(/^serve needs a token .*SIGNALBOX_TOKEN_FILE/) },
      { code: 2, said: expect.stringMatching(/^SIGNALBOX_TOKEN has 8 characters/) },
      { code: 2, said: expect.stringMatching(/^No database is given: set SIGNALBOX_DATABASE_URL/) },
      { code: 9, said: expect.stringMatching(/^The database at 127\.0\.0\.1:1\/none does not answer/) },
    ]);
  });

  test("where its port is taken, or its tasks are none", async () => {
    const env = { DATABASE_URL: database.url, SIGNALBOX_TOKEN: TOKEN, SIGNALBOX_LOG_LEVEL: "warn" };
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    const notTasks = join(dir, "not-tasks.mjs");
    await writeFile(notTasks, "export default 7;\n");

    const answers = await Promise.all([
      refused(["--port", String(port)], env),
      refused(["--tasks", notTasks], env),
      refused(["--tasks", join(dir, "nowhere.mjs")], env),
    ]);

    other.close();
    expect(answers).toEqual([
      {
        code: 2,
        said: expect.stringMatching(/^Cannot listen at 127\.0\.0\.1:\d+: something else does already/),
      },
      { code: 2, said: expect.stringContaining("its default export must be a list") },
      { code: 2, said: expect.stringMatching(/^--tasks \S+nowhere\.mjs cannot be loaded: /) },
    ]);
    const { rows } = await database.client.query("SELECT FROM signalbox.instance");
    expect(rows).toEqual([]);
  });

  test("on a schema that is not current, unless it may migrate it", async () => {
    await database.client.query("DROP SCHEMA signalbox CASCADE");
    const env = { DATABASE_URL: database.url, SIGNALBOX_TOKEN: TOKEN, SIGNALBOX_LOG_LEVEL: "warn" };

    expect(await refused([], env)).toEqual({
      code: 7,
      said: expect.stringMatching(/^The schema lacks \d+ migrations \(.*\)\. Run signalbox migrate up first/),
    });
    const server = await serve({ words: ["--migrate"], tasks: false });
    expect(server.stderr()).toContain('"schema migrated"');
  });
});
