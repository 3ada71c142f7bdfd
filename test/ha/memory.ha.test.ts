/** An instance does not grow with what it has done, after some thousand tasks. After a hundred thousand: test/long/memory.long.test.ts. */

import { expect, it } from "vitest";
import { weighInstance } from "../trials/weigh-instance.ts";

const TASKS = 6_000;
/** Far above what it takes, where others want the cores too. */
const WITHIN_MS = 300_000;
/** 200 bytes for each task of the last third: a claim that is kept is more, and what Node itself still makes by then is less. */
const ALIVE_GROWS_AT_MOST_BYTES = 400_000;

it("what is alive in an instance does not grow with the tasks that it has done", {
  timeout: WITHIN_MS,
}, async () => {
  const { alive, seconds } = await weighInstance({ tasks: TASKS, stretches: 3 });
  process.stdout.write(
    `HA memory: ${TASKS} tasks in ${seconds.toFixed(1)} s; alive after each third: ${alive.join(", ")} bytes\n`,
  );

  const [, second, last] = alive;
  expect(last - second).toBeLessThan(ALIVE_GROWS_AT_MOST_BYTES);
});
