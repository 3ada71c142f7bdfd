/** A load on which four gates bind, each of them by itself at times. Pure, and the same in every run. */

import type { Load, LoadTask } from "./contestants/contestant.ts";

const RUNS = 50;
const RUN_LIMIT = 20;
const KEYS = 100;
const KEY_LIMIT = 10;
const RESOURCES = 2_000;
/** Of one version there are so many on a resource: the order of versions lets them pass together, the resource does not. */
const OF_ONE_VERSION = 2;

export const GATE_CAUSES = ["VERSION_ORDER", "RUN_LIMIT", "KEY_LIMIT", "RESOURCE_BUSY"] as const;
export type GateCause = (typeof GATE_CAUSES)[number];

/** Run and key are independent of each other, and so is the resource, which is drawn with a fixed seed. */
export function fourGates(count: number): Load {
  const onResource = new Map<number, number>();
  const tasks = Array.from({ length: count }, (_, n) => n)
    // By lot, so that the first versions of all resources are of all runs and keys.
    .toSorted((a, b) => scattered(a, 1) - scattered(b, 1))
    .map((n): LoadTask => {
      const resource = Math.floor(scattered(n, 2) * RESOURCES);
      const before = onResource.get(resource) ?? 0;
      onResource.set(resource, before + 1);
      return {
        n,
        run: Math.floor(n / KEYS) % RUNS,
        key: `${n % KEYS}`,
        resource: `database-${resource}`,
        version: `${Math.floor(before / OF_ONE_VERSION) + 1}`,
      };
    });
  // Each run wants the same keys at the same time: else a run is held up before its keys are.
  const byKey = tasks.toSorted((a, b) => Number(a.key) - Number(b.key));
  return { tasks: byKey, runLimit: RUN_LIMIT, keyLimit: KEY_LIMIT };
}

/** From 0 to 1: looks like drawn by lot, and is the same for the same number. */
function scattered(n: number, seed: number): number {
  let x = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}
