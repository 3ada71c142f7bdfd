import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { createSelfWatch, type SelfWatch } from "./self-watch.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const LAG_LIMIT_MS = 200;

let watch: SelfWatch | null = null;
afterEach(() => watch?.stop());

function watched(countStuck: () => number = () => 0): SchedulerEvent[] {
  const events: SchedulerEvent[] = [];
  const emit = (event: SchedulerEvent): number => events.push(event);
  watch = createSelfWatch({ slots: 4, countStuck, emit, lagLimitMs: LAG_LIMIT_MS });
  watch.start();
  return events;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(5);
}

it("tells that the event loop was kept busy and by how much, and when it is free again", async () => {
  const events = watched();

  const untilMs = performance.now() + 2 * LAG_LIMIT_MS;
  while (performance.now() < untilMs);

  await until(() => events.length > 0);
  const [lagged] = events;
  if (lagged?.type !== "event_loop.lagged") throw new Error(`It told ${lagged?.type}`);
  expect(lagged.lagMs).toBeGreaterThan(LAG_LIMIT_MS);
  expect(watch?.isLagging()).toBe(true);
  await until(() => events.some(({ type }) => type === "event_loop.recovered"));
  expect(watch?.isLagging()).toBe(false);
});

it("tells how many slots are stuck when that changes, and not again and again", async () => {
  let [stuck, looks] = [0, 0];
  const events = watched(() => {
    looks += 1;
    return stuck;
  });
  const told = (): SchedulerEvent[] => events.filter(({ type }) => type === "slots.stuck");

  stuck = 2;
  await until(() => told().length > 0 && looks > 5);
  expect(told()).toEqual([{ type: "slots.stuck", stuck: 2, slots: 4 }]);

  stuck = 0;
  await until(() => told().length > 1);
  expect(told()[1]).toEqual({ type: "slots.stuck", stuck: 0, slots: 4 });
});
