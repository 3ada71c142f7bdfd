/** JSON that parsers stumble over, as the input of a task: refused in one sentence, or kept as it came. */

import { problemSchema } from "@signalbox/contract";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openApi } from "../../packages/server/test/api-fixture.ts";
import { JSON_TEXTS } from "../hostile/json-texts.ts";

const box = await openApi(inject("adminUrl"));
afterEach(() => {
  expect(box.logged).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { readonly admin?: unknown }).admin).toBeUndefined();
});
afterAll(box.close);

async function send(body: string): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(`${box.url}/api/v1/task-runs`, { method: "POST", headers, body });
}

describe("JSON that cannot be kept", () => {
  it.each(JSON_TEXTS.filter(({ taken }) => !taken))("$name is refused in one sentence", async ({ text }) => {
    const response = await send(`{"kind":"report","input":${text}}`);

    const problem = problemSchema.parse(await response.json());
    expect([400, 422]).toContain(response.status);
    expect(["INVALID_REQUEST", "INVALID_TASK"]).toContain(problem.code);
    expect(problem.detail.length).toBeLessThan(300);
    const { rows } = await box.database.client.query("SELECT FROM signalbox.task");
    expect(rows).toEqual([]);
  });

  it.each([
    ["__proto__", '{"__proto__":1}', /^The body has a member "__proto__"/],
    ["a member twice", '{"kind":"a","kind":"b"}', /^The body has "kind" twice in one object; give it once$/],
    ["what is no JSON", '{"a":}', /^The body is not JSON: /],
    ["nothing", "", /^The body is empty/],
  ])("%s is said to be that", async (_, text, sentence) => {
    expect(problemSchema.parse(await (await send(text)).json()).detail).toMatch(sentence);
  });
});

describe("JSON that is unusual", () => {
  afterEach(async () => {
    await box.database.client.query("TRUNCATE signalbox.task CASCADE");
  });

  it.each(JSON_TEXTS.filter(({ taken }) => taken))("$name comes back as it came", async ({ text }) => {
    const response = await send(`{"kind":"report","input":${text}}`);
    expect(response.status).toBe(201);
    const { taskRunId } = (await response.json()) as { readonly taskRunId: string };
    await box.scheduler.runUntilIdle();

    const taskRun = await box.client.getTaskRun(taskRunId);
    // JSON has one zero, and so has what is stored.
    const came = text === "-0" ? 0 : (JSON.parse(text) as unknown);
    expect(taskRun).toMatchObject({ status: "DONE", input: came, output: came });
  });
});
