import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createTopicCache, topicKey } from "./topic-cache.ts";
import { createTroubles } from "./troubles.ts";

const TOPIC = "task-runs?status=RUNNING";
const queries = new QueryClient();

beforeEach(() => {
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1:7410/" });
});

afterEach(() => {
  vi.unstubAllGlobals();
  queries.clear();
});

describe("an answer that comes late", () => {
  test("does not undo what the stream said since it was asked for", async () => {
    const cache = createTopicCache(queries, createTroubles());
    let answerWith: (response: Response) => void = () => {};
    const answer = new Promise<Response>((resolve) => {
      answerWith = resolve;
    });
    vi.stubGlobal("fetch", async () => await answer);

    const reading = cache.read(TOPIC, new AbortController().signal);
    // It has left the list since, and no row of an empty list could tell.
    cache.put(TOPIC, { taskRuns: [], next: null });
    answerWith(Response.json(page(["RUNNING", 4])));

    expect(await reading).toEqual({ taskRuns: [], next: null });
    expect(queries.getQueryData(topicKey(TOPIC))).toEqual({ taskRuns: [], next: null });
  });

  test("of another list has its older rows replaced by what is known", async () => {
    const cache = createTopicCache(queries, createTroubles());
    cache.put(TOPIC, page(["DONE", 5]));
    vi.stubGlobal("fetch", async () => Response.json(page(["RUNNING", 4])));

    expect(await cache.read("task-runs", new AbortController().signal)).toEqual(page(["DONE", 5]));
  });
});

test("an answer that is newer is taken", async () => {
  const cache = createTopicCache(queries, createTroubles());
  cache.put(TOPIC, page(["RUNNING", 4]));
  vi.stubGlobal("fetch", async () => Response.json(page(["DONE", 5])));

  expect(await cache.read(TOPIC, new AbortController().signal)).toEqual(page(["DONE", 5]));
});

function page([status, rowVersion]: readonly [string, number]) {
  return { taskRuns: [{ taskRunId: "a", status, rowVersion }], next: null };
}
