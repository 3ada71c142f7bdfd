import { z } from "zod";
import { cancelAnswerSchema, cancelCountsSchema, cancelManySchema, cancelRequestSchema } from "../cancel.ts";
import { createdTaskSchema, createdTasksSchema, createTasksSchema, taskSpecSchema } from "../create-task.ts";
import { deferRequestSchema, deferredSchema } from "../defer.ts";
import { explanationSchema } from "../explanation.ts";
import { logPageSchema, logQuerySchema, logSearchSchema } from "../log.ts";
import { retriedSchema, retryCountsSchema, retryManySchema, retryRequestSchema } from "../retry.ts";
import {
  attemptPageSchema,
  attemptQuerySchema,
  taskRunDetailSchema,
  taskRunPageSchema,
  taskRunQuerySchema,
} from "../task-run.ts";
import type { GroupedRoute } from "./route.ts";

export const TASK_RUN_ROUTES: readonly GroupedRoute[] = [
  {
    name: "createTasks",
    method: "POST",
    path: "/api/v1/task-runs",
    summary: "Brings one task, or many, all or none; many as one run where `run` is given.",
    body: z.union([taskSpecSchema, createTasksSchema]),
    idempotent: true,
    answer: z.union([createdTaskSchema, createdTasksSchema]),
    status: 201,
  },
  {
    name: "listTaskRuns",
    method: "GET",
    path: "/api/v1/task-runs",
    summary: "Task runs, newest first, page by page; what is PENDING also oldest first.",
    query: taskRunQuerySchema,
    answer: taskRunPageSchema,
  },
  {
    name: "getTaskRun",
    method: "GET",
    path: "/api/v1/task-runs/:id",
    summary: "One task run, or the newest one of a task. Takes a full id or a unique prefix.",
    answer: taskRunDetailSchema,
  },
  {
    name: "explain",
    method: "GET",
    path: "/api/v1/task-runs/:id/explanation",
    summary: "Why it is where it is: every gate, passed or blocking, with what blocks it.",
    answer: explanationSchema,
  },
  {
    name: "listAttempts",
    method: "GET",
    path: "/api/v1/task-runs/:id/attempts",
    summary: "All task runs of the same task, newest first, page by page.",
    query: attemptQuerySchema,
    answer: attemptPageSchema,
  },
  {
    name: "readLog",
    method: "GET",
    path: "/api/v1/task-runs/:id/log",
    summary:
      "What it printed, from an offset on. With `search`, the lines of the whole log that contain this text, whatever its case.",
    query: logQuerySchema,
    answer: z.union([logPageSchema, logSearchSchema]),
  },
  {
    name: "cancel",
    method: "POST",
    path: "/api/v1/task-runs/:id/cancel",
    summary: "Asks it to stop. Answers once the request is recorded, not once the work has ended.",
    body: cancelRequestSchema,
    bodyOptional: true,
    answer: cancelAnswerSchema,
  },
  {
    name: "cancelMany",
    method: "POST",
    path: "/api/v1/task-runs/cancel",
    summary: "Cancels all that the filter names. One that breaks off has done a part of it: repeat it.",
    body: cancelManySchema,
    answer: cancelCountsSchema,
  },
  {
    name: "retry",
    method: "POST",
    path: "/api/v1/task-runs/:id/retry",
    summary: "One more attempt for a task that failed or was canceled.",
    body: retryRequestSchema,
    bodyOptional: true,
    answer: retriedSchema,
  },
  {
    name: "defer",
    method: "POST",
    path: "/api/v1/task-runs/:id/defer",
    summary: "Gives it another run time while it has not started: it is PENDING until then.",
    body: deferRequestSchema,
    answer: deferredSchema,
  },
  {
    name: "retryMany",
    method: "POST",
    path: "/api/v1/task-runs/retry",
    summary: "The same for all that the filter names. One that breaks off has done a part of it: repeat it.",
    body: retryManySchema,
    answer: retryCountsSchema,
  },
];
