import { expect, test } from "vitest";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

const TEXT =
  'retry: 1000\nevent: hello\ndata: {"ü":1}\n\n: still here\n\nid: 7\nevent: change\ndata: a\ndata: b\n\ndata: plain\r\n\r\ndata: cut off';

async function read(pieces: readonly Uint8Array[]): Promise<readonly ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events: ServerSentEvent[] = [];
  for await (const event of readServerSentEvents(body)) events.push(event);
  return events;
}

const EVENTS = [
  { event: "hello", data: '{"ü":1}' },
  { event: "change", data: "a\nb" },
  { event: "message", data: "plain" },
];

test("events are read whole, comments and what was cut off are not", async () => {
  expect(await read([Buffer.from(TEXT)])).toEqual(EVENTS);
});

test("wherever the network cuts them, also within a character", async () => {
  expect(await read([...Buffer.from(TEXT)].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
});
