/** The scheduler as a library. What stands here is the whole public surface. */

export type { AttemptFilter, AttemptPage } from "./domain/attempts.ts";
export type { Backoff } from "./domain/backoff.ts";
export type { CancelCounts, CancelFilter, RetryCounts, RetryFilter } from "./domain/bulk.ts";
export type { Count } from "./domain/count.ts";
export { type ErrorCode, type ErrorDetails, SchedulerError } from "./domain/errors.ts";
export type { Blocker, ClaimableBy, ExplainedCause, Explanation, GateReport } from "./domain/explanation.ts";
export type { InstanceId, OperationId, RunId, TaskId, TaskRunId } from "./domain/ids.ts";
export type { InstanceDetail, InstanceList } from "./domain/instance-view.ts";
export type { LogEntry, LogPage, LogStream } from "./domain/log.ts";
export type { LogMatch, LogSearch, LogSearchOptions } from "./domain/log-search.ts";
export type {
  Operation,
  OperationExpectation,
  OperationFilter,
  OperationGroup,
  OperationItem,
  OperationItemFilter,
  OperationItemPage,
  OperationListFilter,
  OperationPage,
  OperationPreview,
  OperationRequest,
  OperationStatus,
  OperationVerb,
  SkipReason,
} from "./domain/operation.ts";
export type { QueueList, QueueView } from "./domain/queue-view.ts";
export { exclusive, type Resource, type ResourceMode, shared } from "./domain/resource.ts";
export type {
  Holder,
  InLine,
  ResourceDetail,
  ResourceFilter,
  ResourcePage,
  ResourceView,
} from "./domain/resource-view.ts";
export type {
  KeyLimitRule,
  PauseRule,
  QueueRule,
  RateRule,
  Reservation,
  RuleList,
  RulesInForce,
  StopRule,
  WindowRule,
} from "./domain/rules-in-force.ts";
export type { Pause, RulesOn } from "./domain/rules-on.ts";
export type { Run, RunDetail, RunFilter, RunPage, RunStatus } from "./domain/run.ts";
export type { LimitScope, Pausable, PauseScope, QueueName, Windowed, WindowScope } from "./domain/scope.ts";
export type {
  InstanceView,
  Overview,
  TaskRun,
  TaskRunDetail,
  TaskRunFilter,
  TaskRunPage,
} from "./domain/task-run.ts";
export type { TaskSpec } from "./domain/task-spec.ts";
export type { TaskRunStatus, TaskStatus, TerminalStatus } from "./domain/task-status.ts";
export type { UnattendedCause } from "./domain/unattended.ts";
export type { WaitingCause, WaitingCode } from "./domain/waiting-cause.ts";
export type { WindowSpec } from "./domain/window-spec.ts";
export type { Deferred } from "./engine/deferrer.ts";
export type { HealthProblem, InstanceHealth } from "./engine/health.ts";
export type { Retried } from "./engine/retrier.ts";
export type { RuleRequest, Rules } from "./engine/rule-keeper.ts";
export { createScheduler } from "./engine/scheduler.ts";
export type {
  CallerTransaction,
  CancelAnswer,
  CancelOptions,
  DeferOptions,
  Enqueued,
  EnqueuedMany,
  EnqueueManyOptions,
  EnqueueOptions,
  FollowLogOptions,
  OperationOptions,
  OverviewOptions,
  ReadLogOptions,
  ReadRulesOptions,
  Scheduler,
} from "./engine/scheduler-face.ts";
export type { SchedulerOptions } from "./engine/settings.ts";
export type { NamedTaskRun, SchedulerEvent } from "./engine/telemetry.ts";
export {
  DeferError,
  type LetGo,
  letGo,
  type PollAnswer,
  type RetryDecision,
  RetryLaterError,
} from "./executors/answers.ts";
export {
  defineTask,
  NonRetryableError,
  type TaskDefinition,
  type TaskOptions,
} from "./executors/define-task.ts";
export {
  type ExecutionContext,
  ExecutionFailedError,
  ExecutionStoppedError,
  type Executor,
} from "./executors/executor.ts";
export { defineProcess, type ProcessDefinition } from "./executors/process/define-process.ts";
export type { ProcessInput } from "./executors/process/process-input.ts";
export type {
  ProcessEnd,
  ProcessHost,
  ProcessSpec,
  RunningProcess,
} from "./executors/process/running-process.ts";
export type { StandardSchema } from "./executors/standard-schema.ts";
export type { InvariantReport, InvariantViolation } from "./store/invariants/check.ts";
export type { MigrationReport } from "./store/migrations/migration-report.ts";
