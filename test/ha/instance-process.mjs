/**
 * One instance in a process of its own, of compiled code: plain JavaScript, so that Node runs it as it runs a
 * release. It ends when its parent is gone. What it is told and tells is in `instance-messages.ts`.
 */

import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, SchedulerError } from "@signalbox/core";
import { dieAt } from "./dying.mjs";
import { keepCount, listHeld, parting } from "./instance-holding.mjs";
import { defineTasks } from "./instance-tasks.mjs";

/** @type {import("@signalbox/core").Scheduler | null} */
let scheduler = null;

process.on("message", (message) => {
  if (message.kind === "start") void start(message);
  else if (message.kind === "die") dieAt(message.point);
  else if (message.kind === "act") void act(message);
  else if (message.kind === "stop") void stop();
  else tell({ kind: "holding", requestNo: message.requestNo, ...listHeld() });
});
process.once("disconnect", () => process.exit());
tell({ kind: "loaded", core: import.meta.resolve("@signalbox/core"), clock: Date.now() });

async function start({ name, databaseUrl, traceFile, settings, dies }) {
  if (dies !== null) dieAt(dies);
  scheduler = createScheduler({
    ...settings,
    name,
    databaseUrl,
    tasks: defineTasks(traceFile, parting),
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

/** As a service calls the scheduler that it has started. */
async function act({ requestNo, name, args }) {
  try {
    const answer = await Reflect.get(scheduler, name).apply(scheduler, args);
    tell({ kind: "acted", requestNo, answer, problem: null });
  } catch (error) {
    tell({ kind: "acted", requestNo, answer: null, problem: toldError(error) });
  }
}

/** Leaves as a service does that is replaced. */
async function stop() {
  await scheduler?.stop();
  process.exit(0);
}

function tellable(event) {
  if (!("error" in event)) return event;
  const { error, ...rest } = event;
  return { ...rest, ...toldError(error) };
}

/** As the driver said it, also where a call of the library told it in words of its own. */
function toldError(error) {
  const said = error instanceof SchedulerError && error.cause instanceof Error ? error.cause : error;
  return {
    message: said instanceof Error ? said.message : String(said),
    code: said?.code ?? null,
  };
}

function tell(message) {
  // The parent may be gone in this very moment.
  if (process.connected) process.send(message, () => {});
}
