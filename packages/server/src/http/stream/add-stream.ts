/**
 * `GET /api/v1/stream?topic=…`: what routes answer, told again when it has changed. Any instance can serve it: a new
 * connection is told everything first, so it does not matter what another server had told before.
 */

import { problemSchema } from "@signalbox/contract";
import { SchedulerError } from "@signalbox/core";
import type { FastifyInstance, FastifyReply } from "fastify";
import { judgeError, RequestError } from "../problem.ts";
import { openConnection, type StreamConnection } from "./connection.ts";
import { createTopicReader, type Look } from "./reader.ts";
import { type Topic, topicsOf } from "./topic.ts";

/** Each costs a socket and what its client has not read yet. */
const MOST_STREAMS = 500;
/** Each costs a few statements a second, however many follow it. */
const MOST_READ = 500;
/** A cookie can be taken back or run out, and a stream asks once: so it is asked again from time to time. */
const LONGEST_BY_SESSION_MS = 300_000;

/** More than a list may take. */
const LONGEST_LOOK_MS = 10_000;
const TOO_LONG = { withinMs: LONGEST_LOOK_MS, remedy: "it is asked again" };

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
    const { topic, ...others } = request.query as { readonly topic?: unknown };
    const [strange] = Object.keys(others);
    if (strange !== undefined)
      throw new RequestError("INVALID_REQUEST", `query: unrecognized key: ${JSON.stringify(strange)}`);
    const { topics, refused } = topicsOf(topic);
    if (open.size >= MOST_STREAMS || reader.countWith(topics) > MOST_READ) {
      const sentence = `This server has ${MOST_STREAMS} streams open, or reads ${MOST_READ} topics; ask another`;
      throw new RequestError("TOO_MANY_STREAMS", sentence);
    }
    const out = begin(reply);
    const connection = openConnection(out, { serverTime: new Date().toISOString(), serverId });
    open.add(connection);
    for (const { name, refusal } of refused) connection.tellTrouble(name, judgeError(refusal).problem);
    const leave = reader.watch(topics, connection.tell);
    const timer = request.bySession ? setTimeout(connection.renew, LONGEST_BY_SESSION_MS) : undefined;
    out.once("close", () => {
      clearTimeout(timer);
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

/** Never rejects, and never goes on for ever: a page that is told nothing would take what it shows for the present. */
async function ask(routes: FastifyInstance, topic: Topic): Promise<Look> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Look>((resolve) => {
    timer = setTimeout(() => resolve(troubleOf(new SchedulerError("TOO_SLOW", TOO_LONG))), LONGEST_LOOK_MS);
  });
  const look = await Promise.race([answerOf(routes, topic), late]);
  clearTimeout(timer);
  return look;
}

async function answerOf(routes: FastifyInstance, topic: Topic): Promise<Look> {
  try {
    const { statusCode, payload } = await routes.inject({ url: topic.url });
    if (statusCode < 400) {
      return { kind: "read", reading: { at: new Date().toISOString(), text: payload } };
    }
    return { kind: "trouble", problem: problemSchema.parse(JSON.parse(payload)) };
  } catch (error) {
    return troubleOf(error);
  }
}

function troubleOf(error: unknown): Look {
  return { kind: "trouble", problem: judgeError(error).problem };
}
