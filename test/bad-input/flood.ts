/** A process that prints far more than anybody keeps. */

import { expect } from "vitest";
import { memoryOf } from "../ha/task-processes.ts";
import { program, type Station } from "./station.ts";

/** More than this an instance must not grow, however much goes by. */
const GROWS_AT_MOST_BYTES = 100_000_000;

export async function printAndExpectLittle(
  station: Station,
  bytes: number,
  withinMs: number,
): Promise<string> {
  const { scheduler, cluster, ended } = station;
  const instance = await cluster.add();
  const warmUp = await scheduler.enqueue(program.task({ shell: "head -c 20000000 /dev/zero" }));
  await ended(warmUp.taskRunId, withinMs);
  const before = memoryOf(instance.pid).highest;
  const from = performance.now();

  const { taskRunId } = await scheduler.enqueue(
    program.task({ shell: `printf 'the beginning\\377\\n'; yes | head -c ${bytes}; printf 'the end\\n'` }),
  );
  const { status } = await ended(taskRunId, withinMs);

  const seconds = (performance.now() - from) / 1000;
  const grown = memoryOf(instance.pid).highest - before;
  const { entries } = await scheduler.readLog(taskRunId, { limit: 1_000 });
  const printed = entries.filter(({ stream }) => stream === "stdout");
  const text = printed.map((entry) => entry.text).join("");
  const leftOut = printed.reduce((sum, { leftOutBytes }) => sum + leftOutBytes, 0);
  expect(status).toBe("DONE");
  expect(text.startsWith("the beginning\uFFFD\ny\n")).toBe(true);
  expect(text.endsWith("y\nthe end\n")).toBe(true);
  expect(text.length).toBeLessThan(1_400_000);
  expect(leftOut).toBeGreaterThan(bytes - 2_000_000);
  expect(grown).toBeLessThan(GROWS_AT_MOST_BYTES);
  expect(instance.count("instance.fenced")).toBe(0);
  return `${bytes / 1e6} MB printed in ${seconds.toFixed(1)} s, memory grew by ${Math.round(grown / 1e6)} MB`;
}
