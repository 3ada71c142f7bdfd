/** Instances whose clocks are ten minutes off, among others. */

import { expect } from "vitest";
import type { Instance } from "../ha/instance.ts";
import type { InstanceEvent } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;
const TEN_MINUTES_MS = 600_000;

/** They are there while harm is done, which somebody must be rescued from. */
export async function setClocksWrong(
  { cluster }: Rig,
  library: string,
  doHarm: () => Promise<Shown>,
): Promise<Shown> {
  const rescuedBefore = cluster.count("task_run.rescued");
  const off = await Promise.all(
    ["+600s", "-600s"].map(
      async (faketime) =>
        await cluster.add({
          env: {
            LD_PRELOAD: library,
            FAKETIME: faketime,
            FAKETIME_DONT_FAKE_MONOTONIC: "1",
            FAKETIME_NO_CACHE: "1",
          },
        }),
    ),
  );
  const [ahead, behind] = off.map(({ clockAtStart }) => (clockAtStart ?? Date.now()) - Date.now());
  const harm = await doHarm();
  await until("those who are off have settled", () => countOf(off, "task_run.settled") > 0, {
    withinMs: WITHIN_MS,
  });
  const paths = {
    ...harm.paths,
    "claimed by those who are off": countOf(off, "task_run.claimed"),
    "settled by those who are off": countOf(off, "task_run.settled"),
    rescued: cluster.count("task_run.rescued") - rescuedBefore,
  };
  expect(ahead).toBeGreaterThan(TEN_MINUTES_MS - 60_000);
  expect(behind).toBeLessThan(60_000 - TEN_MINUTES_MS);
  requireTaken(paths);
  return { faults: { ...harm.faults, "clocks ten minutes off": off.length }, paths };
}

function countOf(instances: readonly Instance[], type: InstanceEvent["type"]): number {
  return instances.reduce((sum, each) => sum + each.count(type), 0);
}
