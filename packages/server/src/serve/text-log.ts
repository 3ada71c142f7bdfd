/** A log for people: time, level, what happened, and the rest as `name=value`. Takes the lines of JSON that pino writes. */

import type { DestinationStream } from "pino";
import { safeLine } from "../telemetry/safe-line.ts";

interface Entry {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

const LEVEL_WIDTH = 5;
/** They are the same in every line, or say what the message says. */
const LEFT_OUT: ReadonlySet<string> = new Set(["level", "time", "msg", "pid", "hostname", "event"]);

export function textLog(write: (line: string) => void): DestinationStream {
  return { write: (line) => write(`${textLine(line)}\n`) };
}

function textLine(json: string): string {
  const entry = JSON.parse(json) as Entry;
  const fields = Object.entries(entry)
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  return [entry.time, entry.level.padEnd(LEVEL_WIDTH), unquoted(entry.msg ?? ""), ...fields].join("  ");
}

/** What was escaped in the JSON is escaped again: a line stays one line, and moves no cursor. */
function shown(value: unknown): string {
  return typeof value === "string" && /^[\w.:/-]+$/.test(value) ? value : safeLine(JSON.stringify(value));
}

function unquoted(text: string): string {
  return safeLine(JSON.stringify(text)).slice(1, -1);
}
