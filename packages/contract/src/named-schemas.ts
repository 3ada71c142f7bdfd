/** The schemas by the names under which the description of the API has them; they are those of their types. */

import type { z } from "zod";
import { aboutSchema } from "./about.ts";
import { askedSchema, changedSchema } from "./asked.ts";
import { cancelAnswerSchema, cancelCountsSchema, cancelManySchema, cancelRequestSchema } from "./cancel.ts";
import { count } from "./count.ts";
import { createdTaskSchema, createdTasksSchema, createTasksSchema, taskSpecSchema } from "./create-task.ts";
import { deferRequestSchema, deferredSchema } from "./defer.ts";
import { blocker, explanationSchema } from "./explanation.ts";
import { healthSchema } from "./health.ts";
import { instanceDetailSchema, instanceListSchema, instanceView } from "./instance.ts";
import { logEntry, logMatch, logPageSchema, logSearchSchema } from "./log.ts";
import {
  operationFilter,
  operationItemPageSchema,
  operationPageSchema,
  operationPreviewRequestSchema,
  operationPreviewSchema,
  operationRequestSchema,
  operationSchema,
  operationStatus,
  operationVerb,
  skipReason,
} from "./operation.ts";
import { overviewSchema } from "./overview.ts";
import { problemSchema } from "./problem.ts";
import { queueListSchema, queueView } from "./queue.ts";
import { holder, inLine, resourceDetailSchema, resourcePageSchema, resourceView } from "./resource.ts";
import { retriedSchema, retryCountsSchema, retryManySchema, retryRequestSchema } from "./retry.ts";
import {
  keyLimitSchema,
  pauseRequestSchema,
  queueChangeSchema,
  rateSchema,
  rulesInForceSchema,
  stopSchema,
  windowsChangeSchema,
} from "./rules.ts";
import { runDetailSchema, runLimitSchema, runPageSchema, runSchema } from "./run.ts";
import { sessionRequestSchema } from "./session.ts";
import { runStatus, taskRunStatus, taskStatus } from "./status.ts";
import { attemptPageSchema, taskRunDetailSchema, taskRunPageSchema, taskRunSchema } from "./task-run.ts";
import { waitingCause, waitingCode } from "./waiting-cause.ts";
import { pausable, pause, windowed, windowSpec } from "./window.ts";

export const NAMED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  About: aboutSchema,
  Asked: askedSchema,
  AttemptPage: attemptPageSchema,
  Blocker: blocker,
  CancelAnswer: cancelAnswerSchema,
  CancelCounts: cancelCountsSchema,
  CancelMany: cancelManySchema,
  CancelRequest: cancelRequestSchema,
  Changed: changedSchema,
  Count: count,
  CreateTasks: createTasksSchema,
  CreatedTask: createdTaskSchema,
  CreatedTasks: createdTasksSchema,
  DeferRequest: deferRequestSchema,
  Deferred: deferredSchema,
  Explanation: explanationSchema,
  Health: healthSchema,
  Holder: holder,
  InLine: inLine,
  InstanceDetail: instanceDetailSchema,
  InstanceList: instanceListSchema,
  InstanceView: instanceView,
  KeyLimit: keyLimitSchema,
  LogEntry: logEntry,
  LogMatch: logMatch,
  LogPage: logPageSchema,
  LogSearch: logSearchSchema,
  Operation: operationSchema,
  OperationFilter: operationFilter,
  OperationItemPage: operationItemPageSchema,
  OperationPage: operationPageSchema,
  OperationPreview: operationPreviewSchema,
  OperationPreviewRequest: operationPreviewRequestSchema,
  OperationRequest: operationRequestSchema,
  OperationStatus: operationStatus,
  OperationVerb: operationVerb,
  Overview: overviewSchema,
  Pausable: pausable,
  Pause: pause,
  PauseRequest: pauseRequestSchema,
  Problem: problemSchema,
  QueueChange: queueChangeSchema,
  QueueList: queueListSchema,
  QueueView: queueView,
  Rate: rateSchema,
  ResourceDetail: resourceDetailSchema,
  ResourcePage: resourcePageSchema,
  ResourceView: resourceView,
  Retried: retriedSchema,
  RetryCounts: retryCountsSchema,
  RetryMany: retryManySchema,
  RetryRequest: retryRequestSchema,
  RulesInForce: rulesInForceSchema,
  Run: runSchema,
  RunDetail: runDetailSchema,
  RunLimit: runLimitSchema,
  RunPage: runPageSchema,
  RunStatus: runStatus,
  SessionRequest: sessionRequestSchema,
  SkipReason: skipReason,
  Stop: stopSchema,
  TaskRun: taskRunSchema,
  TaskRunDetail: taskRunDetailSchema,
  TaskRunPage: taskRunPageSchema,
  TaskRunStatus: taskRunStatus,
  TaskSpec: taskSpecSchema,
  TaskStatus: taskStatus,
  WaitingCause: waitingCause,
  WaitingCode: waitingCode,
  WindowSpec: windowSpec,
  Windowed: windowed,
  WindowsChange: windowsChangeSchema,
};
