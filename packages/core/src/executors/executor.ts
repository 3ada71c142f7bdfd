/** The adapter that does one kind of work. The engine knows nothing else about it. */

import type { TaskId, TaskRunId } from "../domain/ids.ts";
import type { LogStream } from "../domain/log.ts";
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
  /** Aborted by a cancel, a shutdown or a lost lease, with an `ExecutionStoppedError`. Stop as soon as you can. */
  readonly signal: AbortSignal;
  /**
   * Appends to the log of the task run: a text as a line, bytes as they are. Never waits and never throws; of a
   * long log the middle is left out. Default stream: `task`.
   */
  readonly log: (content: string | Uint8Array, stream?: LogStream) => void;
  /** Starts processes that end when the lease of this instance does, also when the instance is killed or frozen. */
  readonly processes: ProcessHost;
}

/** Does one kind of work. `defineTask` makes one of a function; implement it for work elsewhere. */
export interface Executor {
  /** What a task names to be run by it; one executor per kind and instance. */
  readonly kind: string;
  /** Checks an input before it is enqueued; throws INVALID_INPUT. */
  readonly checkInput?: (input: unknown) => Promise<void>;
  /** Resolves with the output, any JSON value. Rejects to fail the attempt. */
  execute(input: unknown, context: ExecutionContext): Promise<unknown>;
}

/** Why an execution was told to stop; the reason of its signal. */
export class ExecutionStoppedError extends Error {
  override readonly name = "ExecutionStoppedError";
  /** `cancel`: somebody asked for it. `fence`: the lease was lost. `shutdown`: the instance leaves. */
  readonly because: "cancel" | "fence" | "shutdown";

  constructor(because: ExecutionStoppedError["because"]) {
    super(`The execution was told to stop (${because})`);
    this.because = because;
  }
}

/** Thrown by an executor to fail the attempt with an outcome of its own instead of HANDLER_FAILED. */
export class ExecutionFailedError extends Error {
  override readonly name = "ExecutionFailedError";
  /** A stable code, in upper case: the outcome of the task run. */
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
