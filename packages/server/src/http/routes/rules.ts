/** Rules: which are in force, and what changes them. All of these requests may be repeated. */

import {
  keyLimitSchema,
  type Pausable as PausableJson,
  pauseRequestSchema,
  rateSchema,
  rulesQuerySchema,
  stopSchema,
  type WindowSpec as WindowSpecJson,
  windowsChangeSchema,
} from "@signalbox/contract";
import type { Pausable, RunId, TaskId, WindowSpec } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ByKey {
  readonly Params: { readonly key: string };
}

interface ByName {
  readonly Params: { readonly name: string };
}

interface ByTaskAndCode {
  readonly Params: { readonly id: string; readonly code: string };
}

export function addRuleRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get(
    "/api/v1/rules",
    async ({ query }) => await scheduler.readRules(readRequest(rulesQuerySchema, "query", query)),
  );
  app.put<ByKey>("/api/v1/key-limits/:key", async ({ params, body }, reply) => {
    await scheduler.setKeyLimit(params.key, readRequest(keyLimitSchema, "body", body).limit);
    return reply.code(204).send();
  });
  app.put<ByName>("/api/v1/rates/:name", async ({ params, body }, reply) => {
    await scheduler.setRate(params.name, readRequest(rateSchema, "body", body));
    return reply.code(204).send();
  });
  app.put("/api/v1/windows", async ({ body }, reply) => {
    const { what, windows } = readRequest(windowsChangeSchema, "body", body);
    await scheduler.setWindows(what, windows.map(windowOf));
    return reply.code(204).send();
  });
  addPauseRoutes(app, scheduler);
  addStopRoutes(app, scheduler);
}

function addPauseRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.post("/api/v1/pauses", async ({ body }) => {
    const { what, ...request } = readRequest(pauseRequestSchema, "body", body);
    return { changed: await scheduler.pause(pausableOf(what), request) };
  });
  app.post("/api/v1/pauses/end", async ({ body }) => {
    const { what, ...request } = readRequest(pauseRequestSchema, "body", body);
    return { changed: await scheduler.resume(pausableOf(what), request) };
  });
}

function addStopRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.put<ByTaskAndCode>("/api/v1/tasks/:id/stops/:code", async ({ params, body }, reply) => {
    const { detail } = readRequest(stopSchema, "body", body ?? {});
    await scheduler.putStop(params.id as TaskId, params.code, detail);
    return reply.code(204).send();
  });
  app.delete<ByTaskAndCode>("/api/v1/tasks/:id/stops/:code", async ({ params }) => ({
    changed: await scheduler.takeOffStop(params.id as TaskId, params.code),
  }));
}

/** Ids are branded where they are minted; what a client sends is looked up as it is. */
function pausableOf(what: PausableJson): Pausable {
  return "runId" in what ? { runId: what.runId as RunId } : what;
}

function windowOf(window: WindowSpecJson): WindowSpec {
  if (!("from" in window)) return window;
  return { kind: window.kind, from: new Date(window.from), until: new Date(window.until) };
}
