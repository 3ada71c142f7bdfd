/** The adapter that does one kind of work. The engine knows nothing else about it. */

import type { TaskId, TaskRunId } from "../domain/ids.ts";
import type { LogStream } from "../domain/log.ts";
import type { PollAnswer, RetryDecision } from "./answers.ts";
import type { ProcessHost } from "./process/running-process.ts";

/** What an execution is told about itself. */
export interface ExecutionContext {
  /** This attempt. */
  readonly taskRunId: TaskRunId;
  /** The same in every attempt: use it to make an effect idempotent. */
  readonly taskId: TaskId;
  /** From 1 on. */
  readonly attempt: number;
  /** The claim number. It rises with every claim: hand it to what you change, and let it refuse smaller ones. */
  readonly fence: number;
  /** Aborted by a cancel, a timeout, a shutdown, a lost lease or a lost warden, with an `ExecutionStoppedError`. Stop as soon as you can. */
  readonly signal: AbortSignal;
  /**
   * Appends to the log of the task run: a text as a line, bytes as they are. Never waits and never throws; of a
   * long log the middle is left out. Default stream: `task`.
   */
  readonly log: (content: string | Uint8Array, stream?: LogStream) => void;
  /**
   * Starts processes that end with this execution at the latest, and when the lease of this instance does, also when the
   * instance is killed or frozen.
   */
  readonly processes: ProcessHost;
  /** Says that it gets on: the timeout of missing progress begins anew. */
  readonly progress: () => void;
  /**
   * Remembers by which handle the work can be found again, before `letGo` or instead of it: when this instance is lost and
   * the task says `onLost: "resume"`, another one goes on from here. Rejects when the claim is not ours any more.
   */
  readonly keepHandle: (handle: unknown, options: { readonly deadlineInMs: number }) => Promise<void>;
}

/** Does one kind of work. `defineTask` makes one of a function; implement it for work elsewhere. */
export interface Executor {
  /** What a task names to be run by it; one executor per kind and instance. */
  readonly kind: string;
  /** Checks an input before it is enqueued, as it will be stored; throws INVALID_INPUT. */
  readonly checkInput?: (input: unknown) => Promise<void>;
  /** Resolves with the output, any JSON value, or with `letGo(…)`. Rejects to fail the attempt. */
  execute(input: unknown, context: ExecutionContext): Promise<unknown>;
  /** What is to follow on an error of `execute` that says nothing about it by itself. Default: "retry". */
  decideRetry?(error: unknown, attempt: number): RetryDecision;
  /** Asks the outside job how it is doing. What it throws says nothing about the job: it is asked again later. */
  poll?(handle: unknown, context: ExecutionContext): Promise<PollAnswer>;
  /** Ends the outside job: after a cancel, and when its deadline has passed. Called again when it throws. */
  cancelOutside?(handle: unknown, context: ExecutionContext): Promise<void>;
  /**
   * How long it may take to end after its signal, before it is taken for stuck. Infinity: it always ends, and its end is
   * waited for. Default: `obeyMs` of the instance.
   */
  readonly obeyMs?: number;
}

/** Why an execution was told to stop; the reason of its signal. */
export class ExecutionStoppedError extends Error {
  override readonly name = "ExecutionStoppedError";
  /**
   * `cancel`: somebody asked for it. `fence`: the lease was lost. `shutdown`: the instance leaves. `run_timeout`,
   * `no_progress`: it took too long. `warden_lost`: who watched over its processes was killed, and they were ended.
   */
  readonly because: "cancel" | "fence" | "shutdown" | "run_timeout" | "no_progress" | "warden_lost";

  constructor(because: ExecutionStoppedError["because"]) {
    super(`The execution was told to stop (${because})`);
    this.because = because;
  }
}

/** Thrown by an executor to fail the attempt with an outcome of its own instead of HANDLER_FAILED. */
export class ExecutionFailedError extends Error {
  override readonly name = "ExecutionFailedError";
  /**
   * A stable code, the outcome of the task run: at most 100 upper case letters, digits and underscores, a letter first.
   * Anything else counts as HANDLER_FAILED.
   */
  readonly code: string;
  readonly retryable: boolean;

  constructor(
    code: string,
    message: string,
    { retryable = true, ...options }: ErrorOptions & { readonly retryable?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.retryable = retryable;
  }
}
