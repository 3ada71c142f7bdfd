import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StreamNews } from "./messages.ts";
import { createStream, type Stream } from "./stream.ts";

/** Stands for the browser's own, which Node does not have. */
class FakeSource extends EventTarget {
  static opened: FakeSource[] = [];
  closed = false;

  constructor() {
    super();
    FakeSource.opened.push(this);
  }

  close(): void {
    this.closed = true;
  }

  say(event: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) }));
  }
}

const HELLO = { serverTime: "2026-11-17T12:00:00Z", serverId: "server-1" };
let states: string[];
let bodies: unknown[];
let stream: Stream;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeSource);
  FakeSource.opened = [];
  states = [];
  bodies = [];
  stream = createStream("http://127.0.0.1/api/v1/stream");
  stream.want(note, ["overview"]);
  vi.advanceTimersByTime(1_000);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function note(news: StreamNews): void {
  if (news.kind === "state") states.push(news.state);
  if (news.kind === "body") bodies.push(news.body);
}

function current(): FakeSource {
  const source = FakeSource.opened.at(-1);
  if (source === undefined) throw new Error("nothing was opened");
  return source;
}

test("one that breaks each time after its first word is failing", () => {
  for (let time = 0; time < 3; time += 1) {
    current().say("hello", HELLO);
    current().dispatchEvent(new Event("error"));
    vi.advanceTimersByTime(5_000);
  }

  expect(states).toEqual(["live", "connecting", "live", "connecting", "live", "failing"]);
});

test("one that asks to be renewed is opened again at once, and stays live", () => {
  current().say("hello", HELLO);
  const first = current();
  first.say("renew", {});

  expect(first.closed).toBe(true);
  expect(FakeSource.opened).toHaveLength(2);
  expect(states).toEqual(["live"]);
});

test("one whose database has failed over is opened again: only a fresh one is told what was undone", () => {
  current().say("hello", HELLO);
  current().say("change", { topic: "overview", at: HELLO.serverTime, body: { timeline: 1, running: 1 } });
  current().say("change", { topic: "overview", at: HELLO.serverTime, body: { timeline: 1, running: 2 } });
  expect(FakeSource.opened).toHaveLength(1);
  current().say("change", { topic: "overview", at: HELLO.serverTime, body: { timeline: 2, running: 2 } });
  vi.advanceTimersByTime(1);

  expect(FakeSource.opened).toHaveLength(2);
});

test("who says again what it wants is not told again what it knows: it would take that for an answer", () => {
  current().say("hello", HELLO);
  current().say("change", { topic: "overview", at: HELLO.serverTime, body: { running: 1 } });
  stream.want(note, ["overview"]);

  expect(bodies).toEqual([{ running: 1 }]);
});
