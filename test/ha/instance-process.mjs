/**
 * One instance in a process of its own, of compiled code: plain JavaScript, so that Node runs it as it runs a
 * release. It ends when its parent is gone. What it is told and tells is in `instance-messages.ts`.
 */

import { openSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, defineProcess, defineTask } from "@signalbox/core";
import pg from "pg";

/** @type {import("@signalbox/core").InstanceId | null} */
let instanceId = null;
const held = new Map();
/** @type {import("./instance-messages.ts").DyingPoint | null} */
let dying = null;

process.on("message", (message) => {
  if (message.kind === "start") void start(message);
  else if (message.kind === "die") dying = message;
  else tell({ kind: "holding", requestNo: message.requestNo, instanceId, claims: Object.fromEntries(held) });
});
process.once("disconnect", () => process.exit());
tell({ kind: "loaded", core: import.meta.resolve("@signalbox/core"), clock: Date.now() });

async function start({ name, databaseUrl, traceFile, settings }) {
  const trace = openTrace(traceFile);
  const scheduler = createScheduler({
    ...settings,
    name,
    databaseUrl,
    tasks: [
      defineTask({ kind: "work", run: (input, context) => work(trace, input, context, context.signal) }),
      defineTask({ kind: "unseen", run: (input, context) => work(trace, input, context, context.signal) }),
      defineTask({
        kind: "hungry",
        run: async (input, context) => {
          const eaten = Array.from({ length: 1_500_000 }, (_, index) => ({ index }));
          return { ...(await work(trace, input, context, context.signal)), eaten: eaten.length };
        },
      }),
      defineTask({ kind: "stubborn", run: (input, context) => work(trace, input, context, undefined) }),
      defineTask({ kind: "blocking", run: ({ ms }) => block(ms) }),
      defineProcess({ allowShell: true, graceMs: 500 }),
    ],
    onEvent: (event) => {
      keepCount(event);
      tell({ kind: "event", event: tellable(event) });
    },
  });
  // Faults do not wait until everybody has started: the database may be away just now.
  for (;;) {
    try {
      return await scheduler.start();
    } catch (error) {
      tell({ kind: "not_started", message: String(error) });
      await wait(200);
    }
  }
}

async function work(trace, { ms, failUntil = 0 }, context, signal) {
  trace(context, "start");
  dieIf("start");
  await wait(ms, undefined, { signal });
  trace(context, "effect");
  dieIf("effect");
  if (context.attempt <= failUntil) throw new Error(`Attempt ${context.attempt} was told to fail`);
  trace(context, "end");
  return { pid: process.pid };
}

/** Looks at each statement of the main thread on its way out: a point in the protocol, not in our own code. */
const send = Reflect.get(pg.Client.prototype, "query");
pg.Client.prototype.query = function (statement, ...rest) {
  const text = typeof statement === "string" ? statement : (statement?.text ?? "");
  if (dying?.text === undefined) return send.call(this, statement, ...rest);
  return sendAndDie(this, text, () => send.call(this, statement, ...rest));
};

function sendAndDie(client, text, sendIt) {
  const isThere = text.includes(dying.text);
  client.isMarked = isThere || (client.isMarked && !text.startsWith("BEGIN"));
  const ends = client.isMarked && text === "COMMIT";
  if (ends) dieIf("before commit");
  const answer = sendIt();
  if (isThere) setImmediate(dieIf, "sent");
  if (ends) void answer.then(() => dieIf("after commit"));
  return answer;
}

function dieIf(at) {
  if (dying?.at === at) process.kill(process.pid, "SIGKILL");
}

/** Nothing else happens in this thread meanwhile. */
function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
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

function keepCount(event) {
  if (event.type === "instance.joined") instanceId = event.instanceId;
  if (event.type === "task_run.claimed") held.set(event.taskRunId, event.claimNo);
  if (event.type === "task_run.settled" || event.type === "task_run.refused") held.delete(event.taskRunId);
  if (event.type === "instance.fenced" || event.type === "instance.left") {
    instanceId = null;
    held.clear();
  }
}

function tellable(event) {
  if (!("error" in event)) return event;
  const { error, ...rest } = event;
  return {
    ...rest,
    message: error instanceof Error ? error.message : String(error),
    code: error?.code ?? null,
  };
}

function tell(message) {
  // The parent may be gone in this very moment.
  if (process.connected) process.send(message, () => {});
}
