/** Lines of one resource: who is about to end, who comes next, and what leaves that to a pass. */

import { expect } from "vitest";
import type { TaskRunId } from "../src/domain/ids.ts";
import { exclusive, shared } from "../src/domain/resource.ts";
import type { TaskSpec } from "../src/domain/task-spec.ts";
import type { ManualScheduler } from "../src/testing/manual-scheduler.ts";
import { echo, type Fixture } from "./fixture.ts";

export const orders = [exclusive("orders")];

export const next = (options: Partial<TaskSpec> = {}): TaskSpec =>
  echo.task(2, { resources: orders, version: "2", ...options });

export const FREEZE = {
  kind: "freeze",
  from: new Date("2026-01-01"),
  until: new Date("2090-01-01"),
} as const;
/** Open for good; only a pass says so. */
const PAST = { ...FREEZE, until: new Date("2026-01-02") };

/** The first has the resource and is about to end; the others have been looked at. */
export async function standInLine(
  box: Fixture,
  scheduler: ManualScheduler,
  ...specs: readonly TaskSpec[]
): Promise<readonly [TaskRunId, ...TaskRunId[]]> {
  const ids: TaskRunId[] = [];
  for (const spec of specs) ids.push((await scheduler.enqueue(spec)).taskRunId);
  await scheduler.promote();
  const [first, ...others] = ids;
  if (first === undefined) throw new Error("Nobody stands in line");
  expect(await box.statusOf(first)).toBe("AVAILABLE");
  return [first, ...others];
}

export async function wakesIn(box: Fixture): Promise<readonly string[]> {
  const rows = await box.query<{ key: string }>("SELECT DISTINCT key FROM signalbox.gate_wake ORDER BY key");
  return rows.map(({ key }) => key);
}

interface Case {
  readonly specs?: readonly TaskSpec[];
  readonly before?: (scheduler: ManualScheduler) => Promise<unknown>;
  /** After the first was claimed. */
  readonly meanwhile?: (scheduler: ManualScheduler, next: TaskRunId) => Promise<unknown>;
}

const taskIdOf = async (scheduler: ManualScheduler, id: TaskRunId) => (await scheduler.get(id)).taskId;

/** Each but one thing away from being handed the resource by one with version 1. */
export const LEFT_TO_A_PASS: Readonly<Record<string, Case>> = {
  "has a key": { specs: [next({ concurrencyKey: "customer" })] },
  "has a rate": {
    before: async (scheduler) => await scheduler.setRate("sms", { amount: 10, perMs: 1_000 }),
    specs: [next({ rate: "sms" })],
  },
  "wants another resource too": { specs: [next({ resources: [...orders, exclusive("users")] })] },
  "shares it": { specs: [next({ resources: [shared("orders")] })] },
  "is in a queue with a limit": {
    specs: [next({ queue: "slow" })],
    meanwhile: async (scheduler) => await scheduler.setQueue("slow", { limit: 5 }),
  },
  "is in a paused queue": {
    specs: [next({ queue: "slow" })],
    meanwhile: async (scheduler) => await scheduler.pause({ queue: "slow" }),
  },
  "wants a paused resource": {
    meanwhile: async (scheduler) => await scheduler.pause({ resource: "orders" }),
  },
  "is in a queue with windows": {
    specs: [next({ queue: "slow" })],
    meanwhile: async (scheduler) => await scheduler.setWindows({ queue: "slow" }, [PAST]),
  },
  "wants a resource with windows": {
    meanwhile: async (scheduler) => await scheduler.setWindows({ resource: "orders" }, [PAST]),
  },
  "is stopped": {
    meanwhile: async (scheduler, id) => await scheduler.putStop(await taskIdOf(scheduler, id), "APPROVAL"),
  },
  "waits behind a smaller version that nobody has looked at": {
    meanwhile: async (scheduler) => await scheduler.enqueue(next({ version: "1.5" })),
  },
  "has the version of another": { specs: [next(), next()] },
  "has another in line before it": { specs: [next(), echo.task(3, { resources: orders })] },
  "is the first in line while another waits for the version": {
    specs: [echo.task(3, { resources: orders }), next({ version: "3" })],
  },
  "has a version and stands in line": {
    specs: [echo.task(3, { resources: orders, version: "1" })],
  },
};
