/** Bad input by the API and the command line: a problem with a code and one sentence, never "something went wrong". */

import { request } from "node:http";
import { createClient } from "@signalbox/contract";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import type { ManualScheduler } from "../../packages/core/src/testing/manual-scheduler.ts";
import { openFixture } from "../../packages/core/test/fixture.ts";
import { taskSpecOf } from "../../packages/server/src/cli/enqueue-arguments.ts";
import { createApi } from "../../packages/server/src/http/create-api.ts";
import { listenOnLoopback } from "../../packages/server/src/http/listen.ts";
import { UsageError } from "../../packages/server/src/usage-error.ts";
import { BAD_JSON, BAD_TEXT } from "./values.ts";

const box = await openFixture(inject("adminUrl"));
const unforeseen: unknown[] = [];
let scheduler: ManualScheduler;
let api: ReturnType<typeof createApi>;
let url: string;

beforeAll(async () => {
  scheduler = await box.scheduler();
  api = createApi({
    scheduler,
    serverId: "server-1",
    logger: { error: (entry: unknown) => unforeseen.push(entry) },
  });
  ({ url } = await listenOnLoopback(api, 29_410));
});
afterEach(async () => {
  expect(unforeseen.splice(0)).toEqual([]);
  // It still answers, and nothing of what was refused is there.
  const { taskRunId } = await createClient(url).createTask({ kind: "echo", input: "next" });
  await scheduler.runUntilIdle();
  expect(await createClient(url).getTaskRun(taskRunId)).toMatchObject({ status: "DONE", output: "next" });
  expect(await box.query("DELETE FROM signalbox.task_run RETURNING status")).toEqual([{ status: "DONE" }]);
});
afterAll(async () => {
  await api.close();
  await box.close();
});

interface Answer {
  readonly status: number | undefined;
  readonly code: unknown;
  readonly detail: unknown;
}

/** As a client would that is not ours: bytes, whatever they are. */
async function send(path: string, body: string | Buffer | null): Promise<Answer> {
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request(new URL(path, url), {
      method: body === null ? "GET" : "POST",
      headers:
        body === null
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    // A body that is too large is refused before all of it was sent.
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.end(body ?? undefined);
  });
  const { code, detail } = JSON.parse(answer.text) as Answer;
  return { status: answer.status, code, detail };
}

describe.each(BAD_JSON)("$name", ({ name, text, problem }) => {
  it("as an input is a problem", async () => {
    const answer = await send("/api/v1/task-runs", `{"kind":"echo","input":${text}}`);

    expect(answer).toEqual(
      name === "10 MB"
        ? { status: 413, code: "BODY_TOO_LARGE", detail: "The body is larger than 1 MB" }
        : {
            status: 422,
            code: "INVALID_TASK",
            detail: expect.stringMatching(new RegExp(`^task\\.input(?:\\[0\\])*: ${problem}$`)),
          },
    );
  });
});

it("a body that is not UTF-8 is a problem, not another text", async () => {
  const body = Buffer.concat([Buffer.from('{"kind":"echo","input":"'), Buffer.of(0xff), Buffer.from('"}')]);

  expect(await send("/api/v1/task-runs", body)).toEqual({
    status: 400,
    code: "INVALID_REQUEST",
    detail: "The body is not UTF-8",
  });
});

describe.each(BAD_TEXT.filter(({ name }) => name !== "10 MB"))("$name", ({ name, text }) => {
  it("in a filter, a title of a run or a reason is a problem", async () => {
    // Half of a pair cannot even be written into an address.
    const query = encodeURIComponent(name === "a lone surrogate" ? "\u0001" : text);
    const tasks = [{ kind: "echo" }];

    for (const field of ["kind", "queue", "tag"])
      expect(await send(`/api/v1/task-runs?${field}=${query}`, null)).toMatchObject({
        status: 422,
        code: "INVALID_FILTER",
      });
    expect(await post("/api/v1/task-runs", { tasks, run: { title: text } })).toMatchObject({
      status: 422,
      code: "INVALID_TASK",
    });
    for (const asked of [{ reason: text }, { by: text }])
      expect(await post("/api/v1/task-runs/cancel", { filter: { kind: "echo" }, ...asked })).toMatchObject({
        status: 422,
        code: "INVALID_TEXT",
      });
  });
});

async function post(path: string, body: unknown): Promise<Answer> {
  return await send(path, JSON.stringify(body));
}

it("a number that JSON does not have is sent neither by the client nor by the command line", async () => {
  const input = JSON.parse('{"a":[1e100000]}') as unknown;

  await expect(createClient(url).createTask({ kind: "echo", input })).rejects.toThrow(
    new TypeError("Infinity is not a JSON number; it would be sent as null"),
  );
  expect(() => taskSpecOf("echo", { resource: [], tag: [], input: '{"a":[1e100000]}' }, new Date())).toThrow(
    new UsageError("--input has a number that is too large"),
  );
});
