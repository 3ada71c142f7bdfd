/** The work that every instance of these tests can do, and the lines by which it is known that it was done. */

import { appendFileSync, existsSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DeferError, defineProcess, defineTask, letGo } from "@signalbox/core";
import { dieIf } from "./dying.mjs";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** `parting` is told of each execution that leaves its task run without having ended it, and of each poll that begins. */
export function defineTasks(traceFile, parting) {
  const trace = openTrace(traceFile);
  const does = (kind) =>
    defineTask({ kind, run: (input, context) => work(trace, input, context, context.signal) });
  const stubborn = defineTask({
    kind: "stubborn",
    run: (input, context) => work(trace, input, context, undefined),
  });
  return [
    does("work"),
    does("bulk"),
    does("unseen"),
    defineTask({
      kind: "hungry",
      run: async (input, context) => {
        const eaten = Array.from({ length: 1_500_000 }, (_, index) => ({ index }));
        return { ...(await work(trace, input, context, context.signal)), eaten: eaten.length };
      },
    }),
    stubborn,
    // Is taken for stuck soon after its signal.
    { ...stubborn, kind: "overstaying", obeyMs: 150 },
    { ...blocking(trace), obeyMs: 150 },
    defineTask({ kind: "deferring", run: (input, context) => defer(trace, input, context, parting) }),
    outside(trace, `${traceFile}.jobs`, parting),
    defineProcess({
      allowShell: true,
      graceMs: 500,
      env: { PATH: SYSTEM_PATH, TRACE_FILE: traceFile, INSTANCE_PID: String(process.pid) },
    }),
  ];
}

async function work(trace, input, context, signal) {
  const { ms, failUntil = 0, prints = false, silent = false, progressEveryMs, releaseFile } = input;
  trace(context, "start");
  dieIf("start");
  if (prints) context.log(`attempt ${context.attempt} under claim ${context.fence}`);
  const ticking =
    progressEveryMs === undefined ? null : setInterval(() => context.progress(), progressEveryMs);
  try {
    await wait(ms, undefined, { signal });
    while (releaseFile !== undefined && !existsSync(releaseFile)) await wait(20, undefined, { signal });
  } finally {
    clearInterval(ticking);
  }
  trace(context, "effect");
  dieIf("effect");
  if (context.attempt <= failUntil) throw new Error(`Attempt ${context.attempt} was told to fail`);
  trace(context, "end");
  return silent ? undefined : { pid: process.pid };
}

/** Nothing else happens in this thread meanwhile. */
function blocking(trace) {
  return defineTask({
    kind: "blocking",
    run: ({ ms }, context) => {
      trace(context, "start");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      trace(context, "effect");
    },
  });
}

/** Asks for a later time again and again, as chance has it. */
async function defer(trace, { ms, delayMs }, context, parting) {
  if (Math.random() < 0.6) {
    parting.left(context);
    throw new DeferError(delayMs, "not now");
  }
  return await work(trace, { ms }, context, context.signal);
}

/**
 * A job that is a file: it has ended when it was asked so many times. Named by its task run, so that it is one job
 * whoever begins it.
 */
function outside(trace, folder, parting) {
  mkdirSync(folder, { recursive: true });
  const fileOf = ({ job }) => join(folder, job);
  return defineTask({
    kind: "outside",
    run: async ({ ms, polls, pollInMs, deadlineInMs, keeps, stays, fails }, context) => {
      const handle = { job: context.taskRunId, polls, pollInMs, fails };
      if (keeps) await context.keepHandle(handle, { deadlineInMs });
      if (stays) return await work(trace, { ms }, context, context.signal);
      trace(context, "start");
      appendFileSync(fileOf(handle), "");
      await wait(ms, undefined, { signal: context.signal });
      parting.left(context);
      return letGo({ handle, pollInMs, deadlineInMs });
    },
    poll: async (handle, context) => {
      parting.polls(context);
      appendFileSync(fileOf(handle), ".");
      if (statSync(fileOf(handle)).size < handle.polls) return { kind: "running", pollInMs: handle.pollInMs };
      trace(context, "effect");
      dieIf("effect");
      if (handle.fails && context.attempt === 1) return { kind: "failed", message: "was told to fail" };
      return { kind: "succeeded", output: { pid: process.pid } };
    },
    cancelOutside: async (handle, context) => {
      parting.polls(context);
      rmSync(fileOf(handle), { force: true });
    },
  });
}

/** One write per line to a file that is only appended to: lines of several processes never mix. */
function openTrace(file) {
  const fd = openSync(file, "a");
  return ({ taskRunId, attempt, fence }, what) => {
    // The clock of the whole machine, which all processes share.
    const us = Number(process.hrtime.bigint() / 1000n);
    writeSync(fd, `${JSON.stringify({ us, taskRunId, attempt, claimNo: fence, pid: process.pid, what })}\n`);
  };
}
