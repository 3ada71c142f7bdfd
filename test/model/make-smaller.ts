/** Makes a failing sequence smaller: first fewer steps, then fewer tasks, then simpler ones. */

import { PLAIN, type Step, type Wish } from "./steps.ts";

export type Fails = (steps: readonly Step[]) => Promise<boolean>;

export async function makeSmaller(failing: readonly Step[], fails: Fails): Promise<readonly Step[]> {
  let steps = failing;
  for (let before = ""; before !== JSON.stringify(steps); ) {
    before = JSON.stringify(steps);
    steps = await withFewer(steps, fails);
    for (const [index] of steps.entries()) steps = await withSimpler(steps, index, fails);
  }
  return steps;
}

/** Halves first, then quarters, down to single ones; from the end, because later steps need the earlier ones. */
async function withFewer<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let left = items;
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = left.length - size; from > -size; from -= size) {
      const fewer = left.filter((_, index) => index < from || index >= from + size);
      if (fewer.length < left.length && (await fails(fewer))) left = fewer;
    }
  }
  return left;
}

async function withSimpler(steps: readonly Step[], index: number, fails: Fails): Promise<readonly Step[]> {
  const step = steps[index];
  if (step === undefined || !("tasks" in step)) return steps;
  const put = (tasks: readonly Wish[]): readonly Step[] => steps.with(index, { ...step, tasks });
  let tasks = await withFewer(step.tasks, async (fewer) => fewer.length > 0 && (await fails(put(fewer))));
  for (const [at, task] of tasks.entries()) {
    for (const [field, value] of Object.entries(PLAIN)) {
      const plain = { ...(tasks[at] ?? task), [field]: value };
      if (JSON.stringify(plain) === JSON.stringify(tasks[at])) continue;
      if (plain.version !== null && plain.resources.length === 0) continue;
      if (await fails(put(tasks.with(at, plain)))) tasks = tasks.with(at, plain);
    }
  }
  return put(tasks);
}
