import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openConnection } from "./connection.ts";
import type { Look } from "./reader.ts";
import { topicsOf } from "./topic.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HELLO = { serverTime: "2026-11-17T12:00:00.000Z", serverId: "server-1" };
const [overview] = topicsOf("overview").topics;
if (overview === undefined) throw new Error("this is a topic");

const read = (body: unknown): Look => ({
  kind: "read",
  reading: { at: "2026-11-17T12:00:01.000Z", text: JSON.stringify(body) },
});
const trouble: Look = {
  kind: "trouble",
  problem: { type: "about:blank", title: "No", status: 503, code: "DATABASE_UNREACHABLE", detail: "Gone." },
};
const kindsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^event: (\w+)/gm)].map(([, kind]) => kind ?? "");

test("says hello, then each change, and that it is still there", () => {
  const out = new PassThrough();
  const connection = openConnection(out, HELLO);
  connection.tell(overview, read({ running: 1 }));
  connection.tell(overview, read({ running: 1 }));
  vi.advanceTimersByTime(15_000);
  connection.end();

  expect(String(out.read())).toBe(
    [
      `retry: 1000\nevent: hello\ndata: ${JSON.stringify(HELLO)}\n\n`,
      'event: change\nid: 2026-11-17T12:00:01.000Z\ndata: {"topic":"overview","at":"2026-11-17T12:00:01.000Z","body":{"running":1}}\n\n',
      ": still here\n\n",
    ].join(""),
  );
});

test("a trouble is told once, and its end by what holds now", () => {
  const out = new PassThrough();
  const connection = openConnection(out, HELLO);
  for (const look of [read({ running: 1 }), trouble, trouble, read({ running: 1 })])
    connection.tell(overview, look);
  connection.end();

  expect(kindsIn(String(out.read()))).toEqual(["hello", "change", "trouble", "change"]);
});

test("a client that does not read is told the newest when it does, and nothing in between", async () => {
  const out = new PassThrough({ highWaterMark: 1 });
  const connection = openConnection(out, HELLO);
  connection.tell(overview, read({ running: 0, filler: "x".repeat(300_000) }));
  for (let running = 1; running <= 5; running += 1) connection.tell(overview, read({ running }));

  let text = "";
  out.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await vi.waitFor(() => expect(text).toContain('"running":5'));
  connection.end();
  expect([...text.matchAll(/"running":(\d)/g)].map(([, running]) => running)).toEqual(["0", "5"]);
});
