/**
 * Every address of the API. Its description is made from this table, and a test holds it against the routes of the server.
 */

import { CLUSTER_ROUTES, PLACE_ROUTES } from "./routes/places.ts";
import type { GroupedRoute, Route } from "./routes/route.ts";
import { RULE_ROUTES, RUN_ROUTES } from "./routes/rules.ts";
import { TASK_RUN_ROUTES } from "./routes/task-runs.ts";

export type { Route } from "./routes/route.ts";

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
  Runs: RUN_ROUTES,
  Rules: RULE_ROUTES,
  "Queues and resources": PLACE_ROUTES,
  Cluster: CLUSTER_ROUTES,
  "This description": DESCRIPTION,
};

export const ROUTES: readonly Route[] = Object.entries(GROUPS).flatMap(([group, routes]) =>
  routes.map((route) => ({ ...route, group })),
);
