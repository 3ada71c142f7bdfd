/**
 * The logger of the server: one line of JSON per entry. Whatever an entry holds, the line stays one line, shows no
 * character that moves a terminal's cursor or turns its text around, and no database URL.
 */

import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { describeError } from "./describe-error.ts";
import { safeLine } from "./safe-line.ts";

/** What a log shows, and where. */
export interface LogOptions {
  /** Default: info. */
  readonly level?: "trace" | "debug" | "info" | "warn" | "error";
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** A pino logger whose entries may hold `error` or `err`, whatever was thrown. */
export function createLogger({ level = "info", destination }: LogOptions = {}): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError, err: describeError },
    hooks: { streamWrite: safeLine },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
