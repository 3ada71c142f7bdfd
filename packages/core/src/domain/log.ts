/** What a task run has printed: one sequence of bytes over all its streams, of which the beginning and the end are kept. */

import type { TaskRunId } from "./ids.ts";

/** `task`: written by `context.log`. `system`: written by the executor about its process. */
export type LogStream = (typeof LOG_STREAMS)[number];
export const LOG_STREAMS = ["stdout", "stderr", "task", "system"] as const;

/** Of a longer log these many bytes at its beginning are kept … */
export const LOG_HEAD_BYTES = 65_536;
/** … and these at its end. What lies between is left out, and the offsets say how much. */
export const LOG_TAIL_BYTES = 1_048_576;
export const LOG_CHUNK_BYTES = 65_536;

/** A piece of what a task run printed. */
export interface LogEntry {
  readonly stream: LogStream;
  /** Invalid UTF-8 and NUL are replaced by U+FFFD. */
  readonly text: string;
  /** When it was stored, by the clock of the database. */
  readonly at: Date;
  /** Where it begins, in bytes as they were printed, all streams together. */
  readonly offset: number;
  /** Bytes that were printed before it and are not kept, counted from the entry before or from where was read. */
  readonly leftOutBytes: number;
}

/** A part of a log. */
export interface LogPage {
  readonly taskRunId: TaskRunId;
  readonly entries: readonly LogEntry[];
  /** Give it as `from` to read on. */
  readonly next: number;
  /** The task run has ended and there is nothing behind these entries. */
  readonly ended: boolean;
}
