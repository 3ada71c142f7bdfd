/** What an instance weighs after 100,000 tasks, and that it does not grow with them. After some thousand: test/ha/memory.ha.test.ts. */

import { expect, it } from "vitest";
import { weighInstance } from "../trials/weigh-instance.ts";
import { partOf } from "./long-settings.ts";
import { writeMeasured } from "./proof.ts";

const STRETCHES = 30;
const TASKS = Math.max(partOf(100_000), 15_000);
const MOST_BYTES = 150_000_000;
/** What as many tasks again would add, by the line that fits the last third best. A collection more or less moves it by ten. */
const RESIDENT_GROWS_AT_MOST_BYTES = 20_000_000;
/** What is alive after a collection knows no such chance: from the first third to the end so much, which is 30 bytes per task. */
const ALIVE_GROWS_AT_MOST_BYTES = 2_000_000;

it(`an instance weighs less than 150 MB after ${TASKS} tasks, and does not grow`, async () => {
  const { atStart, inTheEnd, highest, lowest, alive, seconds } = await weighInstance({
    tasks: TASKS,
    stretches: STRETCHES,
    alive: 3,
  });
  const grows = slopeOf(lowest.slice(-STRETCHES / 3)) * STRETCHES;
  const [before = 0, , after = Number.NaN] = alive;
  const sixths = lowest.filter((_, index) => (index + 1) % (STRETCHES / 6) === 0);
  writeMeasured([
    `${TASKS} tasks in ${Math.round(seconds)} s; resident memory ${mb(atStart)} MB at its start, ${mb(inTheEnd)} MB in the end, at most ${mb(highest)} MB.`,
    `At each sixth of them: ${sixths.map(mb).join(", ")} MB; the line of the last third rises by ${mb(grows)} MB per ${TASKS} tasks.`,
    `Alive after a collection: ${mb(before)} MB after the first third, ${mb(after)} MB in the end.`,
  ]);

  // Between two collections it may be above that for a moment; the printed highest tells.
  expect(inTheEnd).toBeLessThan(MOST_BYTES);
  expect(grows).toBeLessThan(RESIDENT_GROWS_AT_MOST_BYTES);
  expect(after - before).toBeLessThan(ALIVE_GROWS_AT_MOST_BYTES);
});

/** Of the line with the least squares: so much more from one to the next. */
function slopeOf(values: readonly number[]): number {
  const mean = (all: readonly number[]): number => all.reduce((sum, each) => sum + each, 0) / all.length;
  const xs = values.map((_, index) => index);
  const [meanX, meanY] = [mean(xs), mean(values)];
  const above = values.reduce((sum, value, x) => sum + (x - meanX) * (value - meanY), 0);
  return above / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
