/** What Signalbox says over the wire. The schemas are its only definition; the types follow from them. */

export { STATUS_NUMBER } from "@signalbox/core/domain";
export { type About, aboutSchema } from "./about.ts";
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
export { type Client, type ClientOptions, type CreateOptions, createClient } from "./client.ts";
export { ProblemError, UnreachableError } from "./client-error.ts";
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
export { type InstanceView, type Overview, overviewSchema } from "./overview.ts";
export { type Problem, problemSchema } from "./problem.ts";
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
