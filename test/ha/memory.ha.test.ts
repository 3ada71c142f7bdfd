/** An instance does not grow with what it has done, after some thousand tasks. After a hundred thousand: test/long/memory.long.test.ts. */

import { expect, it } from "vitest";
import { weighInstance } from "../trials/weigh-instance.ts";

const TASKS = 12_000;
const STRETCHES = 6;
/** Far above what it takes, where others want the cores too. */
const WITHIN_MS = 300_000;
/**
 * 200 bytes for each task of a stretch: a claim that is kept is far more. What Node makes for itself, when it finds out that a
 * function is called often, comes in one stretch or another, and is as much at times. What is kept grows in all of them.
 */
const ALIVE_GROWS_AT_MOST_BYTES = 400_000;

it("what is alive in an instance does not grow with the tasks that it has done", {
  timeout: WITHIN_MS,
}, async () => {
  const { alive, seconds } = await weighInstance({ tasks: TASKS, stretches: STRETCHES, alive: STRETCHES });
  process.stdout.write(
    `HA memory: ${TASKS} tasks in ${seconds.toFixed(1)} s; alive after each stretch: ${alive.join(", ")} bytes\n`,
  );

  const grown = alive.slice(1).map((bytes, index) => bytes - (alive[index] ?? Number.NaN));
  const [median] = grown.toSorted((a, b) => a - b).slice(Math.floor(grown.length / 2));
  expect(median).toBeLessThan(ALIVE_GROWS_AT_MOST_BYTES);
});
