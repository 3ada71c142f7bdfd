/**
 * `GET /api/v1/stream?topic=…`: what routes answer, told again when it has changed. Any instance can serve it: a new
 * connection is told everything first, so it does not matter what another server had told before.
 */

import { problemSchema } from "@signalbox/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { judgeError, RequestError } from "../problem.ts";
import { openConnection, type StreamConnection } from "./connection.ts";
import { createTopicReader, type Look } from "./reader.ts";
import { type Topic, topicsOf } from "./topic.ts";

/** Each costs a socket and what its client has not read yet. */
const MOST_STREAMS = 500;
/** Each costs a few statements a second, however many follow it. */
const MOST_READ = 500;

interface StreamDeps {
  readonly serverId: string;
  /** An application with the routes that can be watched, which nobody outside can reach. */
  readonly routes: FastifyInstance;
}

export function addStream(app: FastifyInstance, { serverId, routes }: StreamDeps): void {
  const reader = createTopicReader(async (topic) => await ask(routes, topic));
  const open = new Set<StreamConnection>();
  // Not for HEAD, which would wait for the end of what has none.
  app.get("/api/v1/stream", { exposeHeadRoute: false }, (request, reply) => {
    const { topic } = request.query as { readonly topic?: unknown };
    const topics = topicsOf(topic);
    if (open.size >= MOST_STREAMS || reader.countWith(topics) > MOST_READ) {
      const sentence = `This server has ${MOST_STREAMS} streams open, or reads ${MOST_READ} topics; ask another`;
      throw new RequestError("TOO_MANY_STREAMS", sentence);
    }
    const out = begin(reply);
    const connection = openConnection(out, { serverTime: new Date().toISOString(), serverId });
    open.add(connection);
    const leave = reader.watch(topics, connection.tell);
    out.once("close", () => {
      leave();
      open.delete(connection);
      connection.end();
    });
  });
  // Before the server waits for what is under way: these would never end.
  app.addHook("preClose", async () => {
    reader.stop();
    for (const connection of open) connection.end();
    await routes.close();
  });
}

function begin(reply: FastifyReply): FastifyReply["raw"] {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    // Or a proxy would keep events until it has a page of them.
    "x-accel-buffering": "no",
  });
  return raw;
}

/** Never rejects: nobody could be told, and the next look may do better. */
async function ask(routes: FastifyInstance, topic: Topic): Promise<Look> {
  try {
    const { statusCode, payload } = await routes.inject({ url: topic.url });
    if (statusCode < 400) {
      return { kind: "read", reading: { at: new Date().toISOString(), text: payload } };
    }
    return { kind: "trouble", problem: problemSchema.parse(JSON.parse(payload)) };
  } catch (error) {
    return { kind: "trouble", problem: judgeError(error).problem };
  }
}
