import { changedSchema } from "../asked.ts";
import { cancelCountsSchema, cancelRequestSchema } from "../cancel.ts";
import {
  keyLimitSchema,
  pauseRequestSchema,
  rateSchema,
  rulesInForceSchema,
  rulesQuerySchema,
  stopSchema,
  windowsChangeSchema,
} from "../rules.ts";
import { runDetailSchema, runLimitSchema, runPageSchema, runQuerySchema } from "../run.ts";
import type { GroupedRoute } from "./route.ts";

export const RUN_ROUTES: readonly GroupedRoute[] = [
  {
    name: "listRuns",
    method: "GET",
    path: "/api/v1/runs",
    summary: "Runs, newest first, page by page.",
    query: runQuerySchema,
    answer: runPageSchema,
  },
  {
    name: "getRun",
    method: "GET",
    path: "/api/v1/runs/:id",
    summary: "One run, and how many of its tasks are in which status. Takes a full id.",
    answer: runDetailSchema,
  },
  {
    name: "setRunLimit",
    method: "PUT",
    path: "/api/v1/runs/:id/limit",
    summary: "How many of its task runs may be AVAILABLE or RUNNING at once; 0 is unlimited.",
    body: runLimitSchema,
    answer: null,
  },
  {
    name: "cancelRun",
    method: "POST",
    path: "/api/v1/runs/:id/cancel",
    summary: "Cancels what is open of a run, which ends with it.",
    body: cancelRequestSchema,
    bodyOptional: true,
    answer: cancelCountsSchema,
  },
];

export const RULE_ROUTES: readonly GroupedRoute[] = [
  {
    name: "readRules",
    method: "GET",
    path: "/api/v1/rules",
    summary: "Every rule in force, as of one moment.",
    query: rulesQuerySchema,
    answer: rulesInForceSchema,
  },
  {
    name: "setKeyLimit",
    method: "PUT",
    path: "/api/v1/key-limits/:key",
    summary:
      "The limit of a concurrency key, or with `customer:*` of every key that begins with `customer:`.",
    body: keyLimitSchema,
    answer: null,
  },
  {
    name: "setRate",
    method: "PUT",
    path: "/api/v1/rates/:name",
    summary: "At most `amount` starts in any period of `perMs`, over all tasks that name this rate.",
    body: rateSchema,
    answer: null,
  },
  {
    name: "setWindows",
    method: "PUT",
    path: "/api/v1/windows",
    summary: "Replaces all windows of a queue or resource; an empty list takes them off.",
    body: windowsChangeSchema,
    answer: null,
  },
  {
    name: "pause",
    method: "POST",
    path: "/api/v1/pauses",
    summary: "Starts nothing more of a queue, a run or a resource; what runs goes on.",
    body: pauseRequestSchema,
    answer: changedSchema,
  },
  {
    name: "resume",
    method: "POST",
    path: "/api/v1/pauses/end",
    summary: "Lets it start again.",
    body: pauseRequestSchema,
    answer: changedSchema,
  },
  {
    name: "putStop",
    method: "PUT",
    path: "/api/v1/tasks/:id/stops/:code",
    summary: "Keeps a task from starting until this code is taken off. Takes the full id of a task.",
    body: stopSchema,
    bodyOptional: true,
    answer: null,
  },
  {
    name: "takeOffStop",
    method: "DELETE",
    path: "/api/v1/tasks/:id/stops/:code",
    summary: "Takes a stop off again.",
    answer: changedSchema,
  },
];
