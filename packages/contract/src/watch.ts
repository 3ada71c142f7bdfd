/** Follows topics of a server: each told whole at first, then what has changed. */

import type { z } from "zod";
import { UnreachableError } from "./client-error.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";
import {
  type StreamChange,
  type StreamHello,
  type StreamTrouble,
  streamChangeSchema,
  streamHelloSchema,
  streamTroubleSchema,
} from "./stream.ts";

export type StreamEvent =
  | ({ readonly kind: "hello" } & StreamHello)
  | ({ readonly kind: "change" } & StreamChange)
  | ({ readonly kind: "trouble" } & StreamTrouble);

/** Ends with the connection; who wants to go on watches again, and is told everything anew. */
export async function* eventsOf(
  baseUrl: string,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent> {
  for await (const sent of readServerSentEvents(body)) {
    const event = streamEventOf(baseUrl, sent);
    if (event !== null) yield event;
  }
}

function streamEventOf(baseUrl: string, { event, data }: ServerSentEvent): StreamEvent | null {
  if (event === "hello") return { kind: "hello", ...read(baseUrl, streamHelloSchema, data) };
  if (event === "change") return { kind: "change", ...read(baseUrl, streamChangeSchema, data) };
  if (event === "trouble") return { kind: "trouble", ...read(baseUrl, streamTroubleSchema, data) };
  // Of a newer server.
  return null;
}

function read<Schema extends z.ZodType>(baseUrl: string, schema: Schema, data: string): z.infer<Schema> {
  const found = schema.safeParse(JSON.parse(data));
  if (found.success) return found.data;
  throw new UnreachableError(baseUrl, "what answers there is not this version of Signalbox", {
    cause: found.error,
  });
}
