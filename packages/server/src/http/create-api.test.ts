import { problemSchema } from "@signalbox/contract";
import { type Scheduler, SchedulerError, type TaskSpec } from "@signalbox/core";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { createApi } from "./create-api.ts";
import { listenOnLoopback } from "./listen.ts";
import type { Readiness } from "./routes/probes.ts";

const HOST = "127.0.0.1:7410";
const TASK_RUNS = "/api/v1/task-runs";

const apps: FastifyInstance[] = [];
const logged: unknown[] = [];

afterEach(async () => {
  logged.length = 0;
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

describe("a request that cannot be read is refused with one sentence that says where", () => {
  test.each([
    ["a missing field", {}, "kind: expected string, received undefined"],
    ["a wrong type", { kind: "x", priority: "high" }, "priority: expected number, received string"],
    ["an unknown key", { kind: "x", colour: 1 }, 'body: unrecognized key: "colour"'],
    [
      "a local time",
      { kind: "x", runAt: "2026-11-16T12:00:00" },
      "runAt: expected an instant such as 2026-11-16T12:00:00Z",
    ],
    [
      "an element of a list",
      { tasks: [{ kind: "x" }, { kind: 7 }] },
      "tasks[1].kind: expected string, received number",
    ],
    [
      "a mode that is none",
      { kind: "x", resources: [{ name: "orders", mode: "alone" }] },
      'resources[0].mode: expected one of "exclusive"|"shared"',
    ],
    ["no tasks", { tasks: [] }, "tasks: too small: expected array to have >=1 items"],
  ])("%s", async (_, body, detail) => {
    const answer = await ask({ method: "POST", url: TASK_RUNS, payload: body });

    expect(answer).toMatchObject({ status: 400, code: "INVALID_REQUEST", detail });
  });

  test("a body that is not JSON", async () => {
    const answer = await ask({
      method: "POST",
      url: TASK_RUNS,
      headers: { "content-type": "application/json" },
      payload: "{",
    });

    expect(answer).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(answer.detail).toMatch(/JSON/);
  });

  test("a body of another type", async () => {
    const answer = await ask({
      method: "POST",
      url: TASK_RUNS,
      headers: { "content-type": "text/plain" },
      payload: '{"kind":"x"}',
    });

    expect(answer).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  test("a body larger than 1 MB", async () => {
    const answer = await ask({
      method: "POST",
      url: TASK_RUNS,
      payload: { kind: "x", input: "x".repeat(1_048_576) },
    });

    expect(answer).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
  });

  test.each([
    ["?limit=0", "limit: too small: expected number to be >=1"],
    ["?limit=ten", "limit: expected a whole number"],
    ["?status=ASLEEP", "status[0]: expected one of"],
    ["?colour=red", 'query: unrecognized key: "colour"'],
  ])("the query %s", async (query, detail) => {
    const answer = await ask({ url: `${TASK_RUNS}${query}` });

    expect(answer).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(answer.detail).toContain(detail);
  });

  test("a member of the stream's query that there is not", async () => {
    expect(await ask({ url: "/api/v1/stream?topic=nothing&since=1" })).toMatchObject({
      status: 400,
      code: "INVALID_REQUEST",
      detail: 'query: unrecognized key: "since"',
    });
  });

  test("an address that does not exist", async () => {
    expect(await ask({ url: "/nowhere?x=1" })).toMatchObject({
      status: 404,
      code: "NO_SUCH_ROUTE",
      detail: "There is no GET /nowhere",
    });
  });

  test("an address that does not exist and has no end: the sentence has one", async () => {
    const { detail } = await ask({ url: `/${"nowhere/".repeat(900)}` });

    expect(detail).toMatch(/^There is no GET \/nowhere\/.*…$/);
    expect(detail.length).toBe(1_001);
  });

  test.each([["%zz"], ["x".repeat(5_000)]])("an address that is none: %s", async (id) => {
    expect(await ask({ url: `${TASK_RUNS}/${id}` })).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
  });
});

describe("web pages are kept out", () => {
  test.each([["evil.example"], ["evil.example:7410"], ["127.0.0.1.evil.example"], ["192.168.0.7:7410"]])(
    "a request to the name %s is refused",
    async (host) => {
      expect(await ask({ url: "/healthz", headers: { host } })).toMatchObject({
        status: 421,
        code: "FOREIGN_HOST",
      });
    },
  );

  test.each([["localhost:7410"], ["127.0.0.1"], ["[::1]:7410"]])(
    "a request to %s is answered",
    async (host) => {
      const response = await api().inject({ url: "/healthz", headers: { host } });

      expect(response.statusCode).toBe(200);
    },
  );

  test.each([["http://evil.example"], ["null"], ["http://127.0.0.1:3000"], ["https://127.0.0.1:7410"]])(
    "a page of %s changes nothing",
    async (origin) => {
      const answer = await ask({
        method: "POST",
        url: `${TASK_RUNS}/x/cancel`,
        headers: { host: HOST, origin },
      });

      expect(answer).toMatchObject({ status: 403, code: "FOREIGN_ORIGIN" });
    },
  );

  test("a page of its own may", async () => {
    const response = await api({ cancel: async () => "canceled" }).inject({
      method: "POST",
      url: `${TASK_RUNS}/x/cancel`,
      headers: { host: HOST, origin: `http://${HOST}` },
    });

    expect(response.json()).toEqual({ answer: "canceled" });
  });
});

describe("probes", () => {
  const probe = async (url: string, readiness?: () => Readiness) => {
    const logger = { error: (entry: unknown) => void logged.push(entry) };
    const deps = { scheduler: {} as Scheduler, serverId: "server-1", logger };
    const app = createApi(readiness === undefined ? deps : { ...deps, readiness });
    apps.push(app);
    const { statusCode, payload, headers } = await app.inject({ url, headers: { host: HOST } });
    expect(headers["cache-control"]).toBe("no-store");
    return [statusCode, payload];
  };
  const ready: Readiness = { ready: true, problems: [], loops: { promoter: "ok" } };
  const notReady: Readiness = { ready: false, problems: ["DRAINING"], loops: { promoter: "failing" } };

  test("say whether the process lives, and whether it is ready or what is not", async () => {
    expect(await probe("/livez", () => notReady)).toEqual([200, "ok\n"]);
    expect(await probe("/readyz", () => ready)).toEqual([200, JSON.stringify(ready)]);
    expect(await probe("/readyz", () => notReady)).toEqual([503, JSON.stringify(notReady)]);
  });

  test("of an API without an instance are ready when it answers", async () => {
    expect(await probe("/readyz")).toEqual([200, '{"ready":true,"problems":[],"loops":{}}']);
  });
});

test("there are no metrics where nobody measures", async () => {
  expect(await ask({ url: "/metrics" })).toMatchObject({ status: 404, code: "NO_SUCH_ROUTE" });
});

test("an error of the scheduler keeps its code and sentence", async () => {
  const answer = await ask(
    { url: `${TASK_RUNS}/8a31` },
    failing(new SchedulerError("TASK_NOT_FOUND", { id: "8a31" })),
  );

  expect(answer).toMatchObject({
    status: 404,
    code: "TASK_NOT_FOUND",
    detail: expect.stringContaining("8a31"),
  });
  expect(logged).toEqual([]);
});

test("what nobody foresaw is logged, and the client is told nothing of it", async () => {
  const error = new Error("relation secret_table does not exist");

  const answer = await ask({ url: `${TASK_RUNS}/8a31` }, failing(error));

  expect(answer).toMatchObject({ status: 500, code: "INTERNAL" });
  expect(JSON.stringify(answer)).not.toMatch(/secret|at .*\.ts/);
  const { requestId } = answer;
  expect(logged).toEqual([expect.objectContaining({ error, requestId, url: `${TASK_RUNS}/8a31` })]);
});

describe("a request is found again by its id, which is in the answer and in the log", () => {
  const askAs = async (given: string) => {
    const { headers, payload } = await api().inject({
      url: "/nowhere",
      headers: { host: HOST, "x-request-id": given },
    });
    const { requestId } = problemSchema.parse(JSON.parse(payload));
    expect(headers["x-request-id"]).toBe(requestId);
    return requestId;
  };

  test("a proxy's own is kept", async () => {
    expect(await askAs("proxy-7:42")).toBe("proxy-7:42");
  });

  test.each(["", "two words", "x".repeat(129), 'a"b', "ключ"])(
    "what cannot be one is not: %j",
    async (given) => {
      expect(await askAs(given)).toMatch(/^[0-9a-f]{8}-/);
    },
  );

  test("two requests have two", async () => {
    expect(await askAs("")).not.toBe(await askAs(""));
  });
});

test.each(["DATABASE_UNREACHABLE", "DATABASE_REFUSED", "ANSWER_LOST"] as const)(
  "a database that is gone is no bug: %s",
  async (code) => {
    const error = new SchedulerError(code, { place: "db:5432/app", problem: "the connection was cut" });

    expect(await ask({ url: `${TASK_RUNS}/8a31` }, failing(error))).toMatchObject({ status: 503, code });
    expect(logged).toEqual([]);
  },
);

test("the scheduler gets an instant where the wire has text", async () => {
  const specs: TaskSpec[] = [];
  const app = api({
    enqueue: async (spec) => {
      specs.push(spec);
      return { taskId: "t", taskRunId: "r", status: "PENDING" } as Awaited<ReturnType<Scheduler["enqueue"]>>;
    },
  });

  const response = await app.inject({
    method: "POST",
    url: TASK_RUNS,
    headers: { host: HOST },
    payload: { kind: "report", runAt: "2026-11-16T14:00:00+02:00" },
  });

  expect(response.statusCode).toBe(201);
  expect(specs).toEqual([{ kind: "report", runAt: new Date("2026-11-16T12:00:00Z") }]);
});

test("the next port is taken when one is busy", async () => {
  const first = await listenOnLoopback(api(), 17_410);
  const second = await listenOnLoopback(api(), first.port);

  expect(second.port).toBeGreaterThan(first.port);
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
});

function api(scheduler: Partial<Scheduler> = {}): FastifyInstance {
  const logger = { error: (entry: unknown) => void logged.push(entry) };
  const app = createApi({ scheduler: scheduler as Scheduler, serverId: "server-1", logger });
  apps.push(app);
  return app;
}

function failing(error: Error): Partial<Scheduler> {
  return { get: () => Promise.reject(error) };
}

async function ask(request: InjectOptions, scheduler: Partial<Scheduler> = {}) {
  const response = await api(scheduler).inject({ ...request, headers: { host: HOST, ...request.headers } });
  expect(response.headers["content-type"]).toContain("application/problem+json");
  return problemSchema.parse(response.json());
}
