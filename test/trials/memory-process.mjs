/**
 * One instance in a process of its own, of compiled code, with nothing else in it: what it weighs is what an instance weighs.
 * It ends when its parent is gone.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { createScheduler, defineTask } from "@signalbox/core";

const TROUBLES = new Set([
  "loop.failed",
  "gate.failed",
  "instance.fenced",
  "lease.renewal_failed",
  "connection.lost",
]);
const showError = (_, value) => (value instanceof Error ? String(value) : value);

process.once("message", (message) => void start(message));
process.once("disconnect", () => process.exit());

async function start({ databaseUrl }) {
  // From now on a question: how much of the heap is in use, once all that nobody needs is gone.
  process.on("message", () => void tellWhatIsAlive());
  const scheduler = createScheduler({
    databaseUrl,
    name: "memory",
    // Nothing of this is to be seen from outside, and it may be why a batch does not end.
    onEvent: (event) => {
      if (TROUBLES.has(event.type)) process.stderr.write(`memory: ${JSON.stringify(event, showError)}\n`);
    },
    tasks: [
      defineTask({ kind: "small", run: (input) => ({ was: input }) }),
      defineTask({
        kind: "failing",
        run: () => {
          throw new Error("told to fail");
        },
      }),
      defineTask({
        kind: "talking",
        run: (_, { log }) => {
          log("one line");
          return null;
        },
      }),
    ],
  });
  await scheduler.start();
  process.send("started");
}

async function tellWhatIsAlive() {
  globalThis.gc();
  // What a collection only makes ready to go is gone after the next.
  await nextTurn();
  globalThis.gc();
  process.send({ heapUsed: process.memoryUsage().heapUsed });
}
