import { aboutSchema } from "../about.ts";
import { askedSchema, changedSchema } from "../asked.ts";
import { healthSchema } from "../health.ts";
import { instanceDetailSchema, instanceListSchema } from "../instance.ts";
import { overviewSchema } from "../overview.ts";
import { queueListSchema } from "../queue.ts";
import { resourceDetailSchema, resourcePageSchema, resourceQuerySchema } from "../resource.ts";
import { queueChangeSchema } from "../rules.ts";
import type { GroupedRoute } from "./route.ts";

export const PLACE_ROUTES: readonly GroupedRoute[] = [
  {
    name: "listQueues",
    method: "GET",
    path: "/api/v1/queues",
    summary: "Every queue that has rules or open work, with how much of it waits, is available and runs.",
    answer: queueListSchema,
  },
  {
    name: "setQueue",
    method: "PUT",
    path: "/api/v1/queues/:name",
    summary: "The limit and the weight of a queue, or one of them.",
    body: queueChangeSchema,
    answer: null,
  },
  {
    name: "listResources",
    method: "GET",
    path: "/api/v1/resources",
    summary: "Resources by name, page by page: who has each, how many wait for it, and its rules.",
    query: resourceQuerySchema,
    answer: resourcePageSchema,
  },
  {
    name: "getResource",
    method: "GET",
    path: "/api/v1/resources/:name",
    summary:
      "One resource with its holders and its line. Any name is one: it is free where nobody has named it.",
    answer: resourceDetailSchema,
  },
  {
    name: "releaseReservation",
    method: "DELETE",
    path: "/api/v1/resources/:name/reservation",
    summary:
      "Frees a resource that is kept for a task whose instance was lost. Only where nothing of that attempt is at work any more.",
    body: askedSchema,
    bodyOptional: true,
    answer: changedSchema,
  },
];

export const CLUSTER_ROUTES: readonly GroupedRoute[] = [
  {
    name: "overview",
    method: "GET",
    path: "/api/v1/overview",
    summary:
      "How much waits at which gate, how much is available and running, and which instances there are.",
    answer: overviewSchema,
  },
  {
    name: "listInstances",
    method: "GET",
    path: "/api/v1/instances",
    summary: "Every instance that lives, and for ten minutes each that died.",
    answer: instanceListSchema,
  },
  {
    name: "getInstance",
    method: "GET",
    path: "/api/v1/instances/:id",
    summary: "One instance with up to 200 of the task runs that it holds. Takes a full id.",
    answer: instanceDetailSchema,
  },
  {
    name: "drainInstance",
    method: "POST",
    path: "/api/v1/instances/:id/drain",
    summary: "Asks an instance to claim nothing more; what it runs goes on. Takes a full id.",
    body: askedSchema,
    bodyOptional: true,
    answer: changedSchema,
  },
  {
    name: "callInstanceBack",
    method: "DELETE",
    path: "/api/v1/instances/:id/drain",
    summary: "Takes that back, for as long as it has not left.",
    answer: changedSchema,
  },
  {
    name: "about",
    method: "GET",
    path: "/api/v1/about",
    summary: "What this server is called, and what time it is there.",
    answer: aboutSchema,
  },
  {
    name: "health",
    method: "GET",
    path: "/healthz",
    summary: "That it answers, and which version it is.",
    answer: healthSchema,
  },
  {
    name: "live",
    method: "GET",
    path: "/livez",
    summary: "Whether the process lives.",
    answer: "text/plain",
  },
  {
    name: "ready",
    method: "GET",
    path: "/readyz",
    summary: "Whether it is ready; 503 where it is not.",
    answer: "text/plain",
  },
  {
    name: "metrics",
    method: "GET",
    path: "/metrics",
    summary: "Metrics in the format of Prometheus.",
    answer: "text/plain",
  },
];
