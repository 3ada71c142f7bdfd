import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { ProblemError, UnreachableError } from "./client-error.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test("a problem becomes an error that carries it", async () => {
  const problem = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    code: "TASK_NOT_FOUND",
    detail: "None.",
  };
  const client = createClient(await serve(() => ({ status: 404, body: JSON.stringify(problem) })));

  const error = await client.getTaskRun("8a31f2").catch((caught: unknown) => caught);

  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ problem, message: "None." });
});

test.each([
  [5, "goes through"],
  [6, "is given up"],
])("what came too often is sent again as the server asks for: after %i times it %s", async (times, end) => {
  const tooOften = {
    type: "about:blank",
    title: "",
    status: 429,
    code: "TOO_MANY_REQUESTS",
    detail: "Later.",
  };
  let asked = 0;
  const client = createClient(
    await serve(() => {
      asked += 1;
      return asked <= times
        ? { status: 429, body: JSON.stringify(tooOften), headers: { "retry-after": "0" } }
        : { status: 200, body: '{"changed":true}' };
    }),
  );

  const answer = await client.pause({ queue: "mail" }).catch((error: unknown) => error);

  expect(answer).toMatchObject(end === "goes through" ? { changed: true } : { problem: tooOften });
  expect(asked).toBe(6);
});

test("no server is an unreachable one", async () => {
  const baseUrl = await serve(() => ({ status: 200, body: "{}" }));
  await new Promise((resolve) => server?.close(resolve));

  await expect(createClient(baseUrl).overview()).rejects.toThrow(`${baseUrl}: nothing listens there`);
  await expect(createClient(baseUrl).overview()).rejects.toBeInstanceOf(UnreachableError);
});

test("a server that does not answer is given up", async () => {
  const baseUrl = await serve(() => null);

  const error = await createClient(baseUrl, { timeoutMs: 50 })
    .health()
    .catch((caught: unknown) => caught);

  expect(error).toBeInstanceOf(UnreachableError);
  expect(error).toMatchObject({ timedOut: true, message: `${baseUrl}: no answer in time` });
});

test.each([
  ["a page", 200, "<html></html>", "not Signalbox (no JSON)"],
  ["an error of something else", 502, "{}", "not Signalbox (HTTP 502)"],
  ["another shape", 200, "{}", "not this version of Signalbox"],
])("%s is not taken for an answer", async (_, status, body, sentence) => {
  const baseUrl = await serve(() => ({ status, body }));

  await expect(createClient(baseUrl).health()).rejects.toThrow(sentence);
});

test("a list asks with its filter, and ids are escaped", async () => {
  const asked: (string | undefined)[] = [];
  const client = createClient(
    await serve(({ url }) => {
      asked.push(url);
      return { status: 200, body: JSON.stringify({ taskRuns: [], next: null }) };
    }),
  );

  await client.listTaskRuns({ status: ["PENDING", "RUNNING"], limit: 5 });
  await client.getTaskRun("../x").catch(() => {});

  expect(asked).toEqual(["/api/v1/task-runs?status=PENDING%2CRUNNING&limit=5", "/api/v1/task-runs/..%2Fx"]);
});

test("a key goes with the request that it makes safe to repeat, and with no other", async () => {
  const keys: unknown[] = [];
  const client = createClient(
    await serve(({ headers }) => {
      keys.push(headers["idempotency-key"]);
      return { status: 201, body: JSON.stringify({ taskId: "t", taskRunId: "r", status: "PENDING" }) };
    }),
  );

  await client.createTask({ kind: "report" }, { idempotencyKey: "order-42" });
  await client.createTask({ kind: "report" });

  expect(keys).toEqual(["order-42", undefined]);
});

test("a change is sent as what it is, and an answer of nothing is one", async () => {
  const asked: (string | undefined)[] = [];
  const client = createClient(
    await serve(({ method, url }) => {
      asked.push(`${method} ${url}`);
      return method === "PUT" ? { status: 204, body: "" } : { status: 200, body: '{"changed":true}' };
    }),
  );

  expect(await client.setQueue("a/b", { limit: 5 })).toBeUndefined();
  expect(await client.takeOffStop("t", "A B")).toEqual({ changed: true });
  expect(await client.pause({ queue: "mail" })).toEqual({ changed: true });

  expect(asked).toEqual([
    "PUT /api/v1/queues/a%2Fb",
    "DELETE /api/v1/tasks/t/stops/A%20B",
    "POST /api/v1/pauses",
  ]);
});

test("a token goes with every request, and none where none is given", async () => {
  const tokens: unknown[] = [];
  const baseUrl = await serve(({ headers }) => {
    tokens.push(headers.authorization);
    return { status: 204, body: "" };
  });

  await createClient(baseUrl, { token: "s3cret" }).setKeyLimit("customer:7", 1);
  await createClient(baseUrl).setKeyLimit("customer:7", 1);

  expect(tokens).toEqual(["Bearer s3cret", undefined]);
});

test("a server below a path is asked there", async () => {
  const asked: (string | undefined)[] = [];
  const baseUrl = await serve(({ url }) => {
    asked.push(url);
    return { status: 204, body: "" };
  });

  await createClient(`${baseUrl}/signalbox/`).setQueue("mail", { limit: 1 });

  expect(asked).toEqual(["/signalbox/api/v1/queues/mail"]);
});

test("a name that would lead to another address is not sent", async () => {
  const client = createClient("http://127.0.0.1:1");

  for (const name of ["", ".", ".."])
    await expect(client.getResource(name)).rejects.toThrow(`"${name}" cannot be part of an address`);
});

type Answer = { readonly status: number; readonly body: string; readonly headers?: object } | null;

async function serve(answer: (request: IncomingMessage) => Answer): Promise<string> {
  const listening = createServer((request, response) => {
    const given = answer(request);
    if (given === null) return;
    response.writeHead(given.status, { connection: "close", ...given.headers }).end(given.body);
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
