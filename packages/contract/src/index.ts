/** What Signalbox says over the wire. The schemas are its only definition; the types follow from them. */

export { STATUS_NUMBER } from "@signalbox/core/domain";
export { type About, aboutSchema } from "./about.ts";
export { type Asked, askedSchema, type Changed, changedSchema } from "./asked.ts";
export {
  type CancelAnswer,
  type CancelCounts,
  type CancelMany,
  type CancelRequest,
  cancelAnswerSchema,
  cancelCountsSchema,
  cancelManySchema,
  cancelRequestSchema,
} from "./cancel.ts";
export {
  type Client,
  type ClientOptions,
  type ClusterCalls,
  type CreateOptions,
  createClient,
  type OperationCalls,
  type RuleCalls,
  type TaskRunCalls,
} from "./client.ts";
export { ProblemError, UnreachableError } from "./client-error.ts";
export type { Count } from "./count.ts";
export {
  type CreatedTask,
  type CreatedTasks,
  type CreateTasks,
  createdTaskSchema,
  createdTasksSchema,
  createTasksSchema,
  type TaskSpec,
  taskSpecSchema,
} from "./create-task.ts";
export { type DeferRequest, type Deferred, deferRequestSchema, deferredSchema } from "./defer.ts";
export {
  type Blocker,
  type ExplainedCause,
  type Explanation,
  explanationSchema,
  type GateReport,
  type UnattendedCause,
  type WaitingCause,
} from "./explanation.ts";
export { type Health, healthSchema } from "./health.ts";
export {
  type InstanceDetail,
  type InstanceList,
  type InstanceView,
  instanceDetailSchema,
  instanceListSchema,
} from "./instance.ts";
export {
  type LogEntry,
  type LogMatch,
  type LogPage,
  type LogQuery,
  type LogSearch,
  logPageSchema,
  logQuerySchema,
  logSearchSchema,
} from "./log.ts";
export { NAMED_SCHEMAS } from "./named-schemas.ts";
export {
  type Operation,
  type OperationFilter,
  type OperationItem,
  type OperationItemPage,
  type OperationItemQuery,
  type OperationPage,
  type OperationPreview,
  type OperationPreviewRequest,
  type OperationQuery,
  type OperationRequest,
  operationItemPageSchema,
  operationItemQuerySchema,
  operationPageSchema,
  operationPreviewRequestSchema,
  operationPreviewSchema,
  operationQuerySchema,
  operationRequestSchema,
  operationSchema,
} from "./operation.ts";
export { type Overview, overviewSchema } from "./overview.ts";
export { type Problem, problemSchema } from "./problem.ts";
export { type QueueList, type QueueView, queueListSchema } from "./queue.ts";
export {
  type Holder,
  type InLine,
  type ResourceDetail,
  type ResourcePage,
  type ResourceQuery,
  type ResourceView,
  resourceDetailSchema,
  resourcePageSchema,
  resourceQuerySchema,
} from "./resource.ts";
export {
  type Retried,
  type RetryCounts,
  type RetryMany,
  type RetryRequest,
  retriedSchema,
  retryCountsSchema,
  retryManySchema,
  retryRequestSchema,
} from "./retry.ts";
export { ROUTES, type Route } from "./routes.ts";
export {
  type KeyLimit,
  keyLimitSchema,
  type PauseRequest,
  pauseRequestSchema,
  type QueueChange,
  queueChangeSchema,
  type Rate,
  type RulesInForce,
  type RulesQuery,
  rateSchema,
  rulesInForceSchema,
  rulesQuerySchema,
  type Stop,
  stopSchema,
  type WindowsChange,
  windowsChangeSchema,
} from "./rules.ts";
export {
  type Run,
  type RunDetail,
  type RunLimit,
  type RunPage,
  type RunQuery,
  runDetailSchema,
  runLimitSchema,
  runPageSchema,
  runQuerySchema,
  runSchema,
} from "./run.ts";
export { type SessionRequest, sessionRequestSchema } from "./session.ts";
export {
  type StreamBody,
  type StreamChange,
  type StreamHello,
  type StreamRows,
  type StreamTrouble,
  streamBodySchema,
  streamChangeSchema,
  streamHelloSchema,
  streamRowsSchema,
  streamTroubleSchema,
} from "./stream.ts";
export {
  type AttemptPage,
  type AttemptQuery,
  attemptPageSchema,
  attemptQuerySchema,
  type TaskRun,
  type TaskRunDetail,
  type TaskRunPage,
  type TaskRunQuery,
  taskRunDetailSchema,
  taskRunPageSchema,
  taskRunQuerySchema,
  taskRunSchema,
} from "./task-run.ts";
export type { StreamEvent } from "./watch.ts";
export type { Pausable, Pause, Windowed, WindowSpec } from "./window.ts";
