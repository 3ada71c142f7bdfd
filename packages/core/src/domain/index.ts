/** The pure part, safe in a browser: statuses, causes, errors, and the shapes that travel. */

export type { AttemptFilter, AttemptPage } from "./attempts.ts";
export type { Count } from "./count.ts";
export { ERROR_CODES, type ErrorCode, type ErrorDetails, SchedulerError } from "./errors.ts";
export type { Blocker, ClaimableBy, ExplainedCause, Explanation, GateReport } from "./explanation.ts";
export type { InstanceId, OperationId, RunId, TaskId, TaskRunId } from "./ids.ts";
export type { InstanceDetail, InstanceList } from "./instance-view.ts";
export { LOG_STREAMS, type LogEntry, type LogPage, type LogStream } from "./log.ts";
export type { LogMatch, LogSearch, LogSearchOptions } from "./log-search.ts";
export {
  OPERATION_STATUSES,
  OPERATION_VERBS,
  type Operation,
  type OperationExpectation,
  type OperationFilter,
  type OperationGroup,
  type OperationItem,
  type OperationItemFilter,
  type OperationItemPage,
  type OperationListFilter,
  type OperationPage,
  type OperationPreview,
  type OperationRequest,
  type OperationStatus,
  type OperationVerb,
  SKIP_REASONS,
  type SkipReason,
} from "./operation.ts";
export type { QueueList, QueueView } from "./queue-view.ts";
export type { Resource, ResourceMode } from "./resource.ts";
export type {
  Holder,
  InLine,
  ResourceDetail,
  ResourceFilter,
  ResourcePage,
  ResourceView,
} from "./resource-view.ts";
export type { RulesInForce } from "./rules-in-force.ts";
export type { Pause, RulesOn } from "./rules-on.ts";
export {
  RUN_STATUSES,
  type Run,
  type RunDetail,
  type RunFilter,
  type RunPage,
  type RunStatus,
} from "./run.ts";
export type { LimitScope, Pausable, PauseScope, QueueName, Windowed, WindowScope } from "./scope.ts";
export type {
  InstanceView,
  Overview,
  TaskRun,
  TaskRunDetail,
  TaskRunFilter,
  TaskRunPage,
} from "./task-run.ts";
export type { TaskSpec } from "./task-spec.ts";
export {
  ACTIONABLE_STATUSES,
  STATUS_NUMBER,
  TASK_RUN_STATUSES,
  TASK_STATUSES,
  type TaskRunStatus,
  type TaskStatus,
  TERMINAL_TASK_STATUSES,
} from "./task-status.ts";
export type { UnattendedCause } from "./unattended.ts";
export type { WaitingCause, WaitingCode } from "./waiting-cause.ts";
export {
  judgeWindows,
  type OneTimeWindow,
  type RecurringWindow,
  type Window,
  type WindowKind,
  type WindowVerdict,
} from "./window.ts";
export { type OneTimeWindowSpec, parseWindow, type WindowSpec } from "./window-spec.ts";
