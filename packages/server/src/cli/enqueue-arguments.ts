/** From what was typed to a task. Pure. */

import type { TaskSpec } from "@signalbox/contract";
import { UsageError } from "../usage-error.ts";
import { parseInstant, parseLength } from "./length-argument.ts";

export interface EnqueueArguments {
  readonly input?: string;
  readonly title?: string;
  readonly resource: readonly string[];
  readonly version?: string;
  readonly outOfOrder?: boolean;
  readonly runAt?: string;
  readonly priority?: number;
  readonly attempts?: number;
  readonly queue?: string;
  readonly tag: readonly string[];
  readonly rate?: string;
  readonly concurrencyKey?: string;
}

export function taskSpecOf(kind: string, args: EnqueueArguments, now: Date): TaskSpec {
  return {
    kind,
    ...rulesOf(args),
    ...(args.input === undefined ? {} : { input: parseInput(args.input) }),
    ...(args.title === undefined ? {} : { title: args.title }),
    ...(args.resource.length === 0 ? {} : { resources: args.resource.map(parseResource) }),
    ...(args.version === undefined ? {} : { version: args.version }),
    ...(args.outOfOrder === true ? { outOfOrder: true } : {}),
    ...(args.runAt === undefined ? {} : { runAt: parseRunAt(args.runAt, now).toISOString() }),
    ...(args.priority === undefined ? {} : { priority: args.priority }),
    ...(args.attempts === undefined ? {} : { retry: { attempts: args.attempts } }),
  };
}

/** What it shares with other tasks. */
function rulesOf({ queue, tag, rate, concurrencyKey }: EnqueueArguments): Partial<TaskSpec> {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(tag.length === 0 ? {} : { tags: [...tag] }),
    ...(rate === undefined ? {} : { rate }),
    ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
  };
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text, finite);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`--input is not JSON; give for example --input '{"seconds":2}'`, { cause });
  }
}

/** 1e400 is read as Infinity, which would be sent as null. */
function finite(_: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new UsageError("--input has a number that is too large");
}

/** Only a known mode at the end is one: a colon may be part of the name. */
function parseResource(text: string): { readonly name: string; readonly mode: "exclusive" | "shared" } {
  const [, name, mode] = /^(.*):(exclusive|shared)$/s.exec(text) ?? [];
  if (name === undefined) return { name: text, mode: "exclusive" };
  return { name, mode: mode === "shared" ? "shared" : "exclusive" };
}

function parseRunAt(text: string, now: Date): Date {
  const length = text.startsWith("+") && !text.endsWith("ms") ? parseLength(text.slice(1)) : null;
  const at = length === null ? parseInstant(text) : new Date(now.getTime() + length);
  if (at !== null && !Number.isNaN(at.getTime())) return at;
  throw new UsageError(
    `--run-at is "${text}"; give an instant such as 2026-11-16T12:00:00Z, or +30s, +5m, +2h, +1d`,
  );
}
