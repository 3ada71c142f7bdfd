/** Work done by a process: a program with its arguments, in a process group of its own under the eyes of the warden. */

import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { SchedulerError } from "../../domain/errors.ts";
import { requireOptions } from "../../domain/require-shape.ts";
import { flag, number, objectOf, openObjectOf, text } from "../../domain/shape.ts";
import { requireKind, type TaskDefinition, taskOf } from "../define-task.ts";
import { type ExecutionContext, ExecutionFailedError, ExecutionStoppedError } from "../executor.ts";
import { type ProcessFiles, removeFiles, writeFiles } from "./process-files.ts";
import { type CheckedProcess, checkGrace, checkProcessInput, type ProcessInput } from "./process-input.ts";
import { readOutput, watchForOutputLine } from "./process-output.ts";
import { checkProcessEnv, refuseArgument } from "./process-spec.ts";
import type { ProcessEnd, RunningProcess } from "./running-process.ts";

/** What all processes of this kind have in common. */
export interface ProcessDefinition {
  /** Default: "process". */
  readonly kind?: string;
  /** The whole environment of every process; nothing is inherited from the instance. Default: a PATH of system folders. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where processes run; an input's `cwd` must be below it. Default: the instance's working directory. */
  readonly root?: string;
  /** Whether an input may give a text for a shell instead of `argv`. Default: false. */
  readonly allowShell?: boolean;
  /** From TERM to KILL, where an input says nothing else. Default: 5000. */
  readonly graceMs?: number;
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const DEFAULT_GRACE_MS = 5_000;
/** An instance that leaves, or has lost its lease, has no more time than this. */
const MAX_HURRIED_GRACE_MS = 4_000;
/** How much of the end of standard error goes into the message of a failure. */
const TOLD_STDERR_BYTES = 500;

const DEFINITION = objectOf<ProcessDefinition>({
  kind: text,
  env: openObjectOf({}, []),
  root: text,
  allowShell: flag,
  graceMs: number,
});

/**
 * Defines a kind of task that runs as a process of the operating system. Exit code 0 is success. The process finds its
 * input in `SIGNALBOX_INPUT_FILE` and writes its output as JSON to `SIGNALBOX_OUTPUT_FILE`, or prints it in a line that
 * begins with `SIGNALBOX_OUTPUT:`. What it prints is its log.
 */
export function defineProcess(definition?: ProcessDefinition): TaskDefinition<ProcessInput> {
  const { kind, env, root, allowShell, graceMs } = resolveDefinition(definition);
  const check = (input: unknown): CheckedProcess => checkProcessInput(kind, input, { allowShell, graceMs });
  return {
    kind,
    // The warden ends it for sure: its end is waited for, so that nothing of it is at work when it is settled.
    obeyMs: Number.POSITIVE_INFINITY,
    task: taskOf(kind),
    checkInput: async (input) => {
      check(input);
    },
    execute: async (given, context) => {
      const wanted = check(given);
      const cwd = await resolveBelow(kind, root, wanted.cwd);
      const folder = await orNotStarted(context.processes.makeFolder());
      try {
        return await run({ ...wanted, cwd, env: { ...env, ...wanted.env } }, folder, context);
      } finally {
        await removeFiles(folder);
      }
    },
  };
}

function resolveDefinition(given: ProcessDefinition | undefined): Required<ProcessDefinition> {
  requireOptions("INVALID_ARGUMENT", given, DEFINITION);
  const { kind, env, root, allowShell, graceMs } = given ?? {};
  const definition: Required<ProcessDefinition> = {
    kind: kind ?? "process",
    // A copy: what was checked is what is used, whatever becomes of the caller's.
    env: checkProcessEnv(env ?? { PATH: DEFAULT_PATH }),
    root: root ?? process.cwd(),
    allowShell: allowShell ?? false,
    graceMs: graceMs ?? DEFAULT_GRACE_MS,
  };
  requireKind(definition.kind);
  checkGrace(definition.graceMs, refuseArgument);
  return definition;
}

async function run(wanted: CheckedProcess, folder: string, context: ExecutionContext): Promise<unknown> {
  const { signal, log } = context;
  const files = await orNotStarted(writeFiles(folder, wanted));
  const answer = watchForOutputLine();
  let stderr = Buffer.alloc(0);
  signal.throwIfAborted();
  const child = await orNotStarted(
    context.processes.start({
      argv: wanted.argv,
      cwd: wanted.cwd,
      env: { ...wanted.env, ...variables(context, files) },
      ...(files.stdin === null ? {} : { stdinFile: files.stdin }),
      graceMs: wanted.graceMs,
      onOutput: (stream, bytes) => {
        context.progress();
        log(bytes, stream);
        if (stream === "stdout") answer.read(bytes);
        else stderr = Buffer.concat([stderr, bytes]).subarray(-TOLD_STDERR_BYTES);
      },
    }),
  );
  log(`Process ${nameOf(child)} started`, "system");
  const end = await endOf(child, wanted.graceMs, signal);
  log(`Process ${nameOf(child)} ${howItEnded(end)}`, "system");
  // What was told to stop has not succeeded, whatever its exit code says. What had ended before had.
  if (end.told) signal.throwIfAborted();
  requireSuccess(child, end, stderr);
  return await readOutput(files.output, answer.last());
}

function variables(
  { taskRunId, attempt, fence }: ExecutionContext,
  files: ProcessFiles,
): Record<string, string> {
  return {
    SIGNALBOX_TASK_RUN_ID: taskRunId,
    SIGNALBOX_ATTEMPT: String(attempt),
    SIGNALBOX_FENCE: String(fence),
    SIGNALBOX_INPUT_FILE: files.input,
    SIGNALBOX_OUTPUT_FILE: files.output,
  };
}

/** Resolves when the group is gone. */
async function endOf(child: RunningProcess, graceMs: number, signal: AbortSignal): Promise<ProcessEnd> {
  const stop = (): void => child.stop(graceFor(signal.reason, graceMs));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await child.ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function graceFor(reason: unknown, graceMs: number): number {
  const because = reason instanceof ExecutionStoppedError ? reason.because : "fence";
  const isHurried = because === "shutdown" || because === "fence";
  return isHurried ? Math.min(graceMs, MAX_HURRIED_GRACE_MS) : graceMs;
}

function requireSuccess(child: RunningProcess, end: ProcessEnd, stderr: Buffer): void {
  const said = stderr.toString("utf8").trim();
  const message = `Process ${nameOf(child)} ${howItEnded(end)}${said === "" ? "" : `: ${said}`}`;
  if (end.signal !== null) throw new ExecutionFailedError("PROCESS_KILLED", message);
  if (end.exitCode !== 0) throw new ExecutionFailedError("PROCESS_EXITED", message);
}

function nameOf({ pid, startTime }: RunningProcess): string {
  return startTime === null ? String(pid) : `${pid} (start time ${startTime})`;
}

function howItEnded({ exitCode, signal, because }: ProcessEnd): string {
  if (because === "warden_lost") return "was killed because its warden was lost";
  if (signal !== null) return `was killed by ${signal}${signal === "SIGKILL" ? " (out of memory?)" : ""}`;
  return `exited with code ${exitCode}`;
}

async function orNotStarted<Value>(attempt: Promise<Value>): Promise<Value> {
  try {
    return await attempt;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExecutionFailedError("PROCESS_NOT_STARTED", `The process could not be started: ${why}`, {
      cause: error,
    });
  }
}

/** The folder itself, symbolic links followed: a link must not lead out of the root. */
async function resolveBelow(kind: string, root: string, cwd: string): Promise<string> {
  const wanted = resolve(root, cwd);
  // The root itself: there is nothing to judge.
  if (wanted === resolve(root)) return wanted;
  const [realRoot, realCwd] = await orNotStarted(Promise.all([realpath(root), realpath(wanted)]));
  const way = relative(realRoot, realCwd);
  if (way === ".." || way.startsWith("../") || isAbsolute(way))
    throw new SchedulerError("INVALID_INPUT", { kind, at: "cwd", problem: `${cwd} is outside the root` });
  return realCwd;
}
