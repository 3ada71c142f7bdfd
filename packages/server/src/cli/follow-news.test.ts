import { type Problem, ProblemError, type StreamEvent } from "@signalbox/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { followNews, type NewsOf, topicOf } from "./follow-news.ts";

const HELLO: StreamEvent = { kind: "hello", serverTime: "2026-11-17T12:00:00Z", serverId: "server-1" };
const INTERVAL_MS = 1_000;

let leave: AbortController;
/** What was told, and to whoever waits for more. */
let told: StreamEvent[];
let hear: () => void;
let opened: number;

beforeEach(() => {
  vi.useFakeTimers();
  leave = new AbortController();
  told = [];
  opened = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server that tells what the test says, until it is left. */
function server(fails: Error | null = null): NewsOf {
  return {
    topics: ["overview"],
    client: {
      watch: async function* (_, { signal } = {}) {
        opened += 1;
        if (fails !== null) throw fails;
        for (;;) {
          while (told.length > 0) yield told.shift() ?? HELLO;
          if (signal?.aborted === true) return;
          await new Promise<void>((resolve) => {
            hear = resolve;
            signal?.addEventListener("abort", () => resolve());
          });
        }
      },
    },
  };
}

function tell(event: StreamEvent): void {
  told.push(event);
  hear();
}

const CHANGE = { kind: "change", topic: "overview", at: "2026-11-17T12:00:01Z" } as StreamEvent;

async function passes(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** How many milliseconds until it looks again. */
async function untilNext(next: Promise<void>, most = 60_000): Promise<number> {
  let isOver = false;
  void next.then(() => {
    isOver = true;
  });
  for (let ms = 0; ms <= most; ms += 50) {
    await passes(ms === 0 ? 0 : 50);
    if (isOver) return ms;
  }
  return Infinity;
}

test("what the stream tells is looked at soon, once for all that comes together", async () => {
  const news = followNews(server(), { intervalMs: INTERVAL_MS, signal: leave.signal });
  tell(HELLO);
  await passes(0);

  const next = news.next(Infinity);
  await passes(700);
  tell(CHANGE);
  tell(CHANGE);

  expect(await untilNext(next)).toBe(100);
  expect(await untilNext(news.next(Infinity))).toBe(5_000);
  await news.close();
});

test("what was told while nobody waited is not forgotten", async () => {
  const news = followNews(server(), { intervalMs: INTERVAL_MS, signal: leave.signal });
  tell(CHANGE);
  await passes(0);

  expect(await untilNext(news.next(Infinity))).toBe(100);
  await news.close();
});

test("where nothing is told it looks every so often", async () => {
  const news = followNews(null, { intervalMs: INTERVAL_MS, signal: leave.signal });

  expect(await untilNext(news.next(Infinity))).toBe(1_000);
  expect(await untilNext(news.next(300))).toBe(300);
  await news.close();
});

test("a server without such a stream is asked for it once", async () => {
  const problem: Problem = { type: "about:blank", title: "", status: 404, code: "NO_SUCH_ROUTE", detail: "" };
  const news = followNews(server(new ProblemError(problem)), {
    intervalMs: INTERVAL_MS,
    signal: leave.signal,
  });

  expect(await untilNext(news.next(Infinity))).toBe(1_000);
  expect(await untilNext(news.next(Infinity))).toBe(1_000);
  expect(opened).toBe(1);
  await news.close();
});

test("a server that is gone is asked again, and looked at meanwhile", async () => {
  const news = followNews(server(new Error("gone")), { intervalMs: INTERVAL_MS, signal: leave.signal });

  expect(await untilNext(news.next(Infinity))).toBe(1_000);
  expect(await untilNext(news.next(Infinity))).toBe(1_000);
  expect(opened).toBeGreaterThan(1);
  await news.close();
});

test("who leaves does not wait", async () => {
  const news = followNews(server(), { intervalMs: INTERVAL_MS, signal: leave.signal });
  tell(HELLO);
  const next = news.next(Infinity);

  leave.abort();

  expect(await untilNext(next)).toBe(0);
  await news.close();
});

test("a list is followed as it is asked for", () => {
  expect(topicOf("task-runs", { status: ["PENDING", "RUNNING"], queue: "a&b", tag: undefined })).toBe(
    "task-runs?status=PENDING%2CRUNNING&queue=a%26b",
  );
});
