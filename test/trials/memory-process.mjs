/**
 * One instance in a process of its own, of compiled code, with nothing else in it: what it weighs is what an instance weighs.
 * It ends when its parent is gone.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { createScheduler, defineTask } from "@signalbox/core";

process.once("message", (message) => void start(message));
process.once("disconnect", () => process.exit());

async function start({ databaseUrl }) {
  // From now on a question: how much of the heap is in use, once all that nobody needs is gone.
  process.on("message", () => void tellWhatIsAlive());
  const scheduler = createScheduler({
    databaseUrl,
    name: "memory",
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
