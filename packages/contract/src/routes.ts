/**
 * Every address of the API. Its description is made from this table, and a test holds it against the routes of the server.
 */

import { z } from "zod";
import { OPERATION_ROUTES } from "./routes/operations.ts";
import { CLUSTER_ROUTES, PLACE_ROUTES } from "./routes/places.ts";
import type { GroupedRoute, Route } from "./routes/route.ts";
import { RULE_ROUTES, RUN_ROUTES } from "./routes/rules.ts";
import { TASK_RUN_ROUTES } from "./routes/task-runs.ts";
import { sessionRequestSchema } from "./session.ts";

export type { Route } from "./routes/route.ts";

const STREAM: readonly GroupedRoute[] = [
  {
    name: "watch",
    method: "GET",
    path: "/api/v1/stream",
    summary:
      "Follows up to 20 topics as server-sent events: paths of GET routes without `/api/v1/`, each told whole at first and again when it has changed.",
    query: z.strictObject({ topic: z.array(z.string()) }),
    answer: "text/event-stream",
  },
];

/** They are there only where a token is needed. */
const SESSIONS: readonly GroupedRoute[] = [
  {
    name: "beginSession",
    method: "POST",
    path: "/api/v1/session",
    summary: "For browsers: the token is given once, and a cookie that is not it comes back.",
    body: sessionRequestSchema,
    answer: null,
  },
  {
    name: "endSession",
    method: "DELETE",
    path: "/api/v1/session",
    summary: "Forgets the cookie.",
    answer: null,
  },
];

const DESCRIPTION: readonly GroupedRoute[] = [
  {
    name: "openapi",
    method: "GET",
    path: "/api/v1/openapi.json",
    summary: "This description, as OpenAPI 3.1.",
    answer: "application/json",
  },
  {
    name: "docs",
    method: "GET",
    path: "/docs",
    summary: "This description, as a page.",
    answer: "text/html",
  },
  {
    name: "docsStyle",
    method: "GET",
    path: "/docs/style.css",
    summary: "How the page looks.",
    answer: "text/css",
  },
];

const GROUPS: Readonly<Record<string, readonly GroupedRoute[]>> = {
  "Task runs": TASK_RUN_ROUTES,
  Operations: OPERATION_ROUTES,
  Runs: RUN_ROUTES,
  Rules: RULE_ROUTES,
  "Queues and resources": PLACE_ROUTES,
  Cluster: CLUSTER_ROUTES,
  "Live stream": STREAM,
  Sessions: SESSIONS,
  "This description": DESCRIPTION,
};

export const ROUTES: readonly Route[] = Object.entries(GROUPS).flatMap(([group, routes]) =>
  routes.map((route) => ({ ...route, group })),
);
