import { expect, test } from "vitest";
import { loopsAreReady, watchLoops } from "./loop-watch.ts";

const MINUTE = 60_000;
const passed = (loop: string) => ({ type: "loop.passed", loop, tookMs: 1 }) as const;
const failed = (loop: string) => ({ type: "loop.failed", loop, error: new Error("no database") }) as const;

test("a loop is failing when it failed three times in a row, and well again after one good pass", () => {
  const watch = watchLoops(0);
  for (const event of [failed("claimer"), failed("claimer"), passed("claimer"), failed("claimer")])
    watch.tell(event, 1);
  expect(watch.states(1)["claimer"]).toBe("ok");

  watch.tell(failed("claimer"), 2);
  watch.tell(failed("claimer"), 3);
  expect(watch.states(3)["claimer"]).toBe("failing");
  expect(loopsAreReady(watch.states(3))).toBe(false);

  watch.tell(passed("claimer"), 4);
  expect(loopsAreReady(watch.states(4))).toBe(true);
});

test("a loop of which nothing is heard for three minutes is silent", () => {
  const watch = watchLoops(0);
  watch.tell(passed("promoter"), 2 * MINUTE);

  expect(watch.states(4 * MINUTE)).toMatchObject({ promoter: "ok", claimer: "silent" });
  expect(watch.states(6 * MINUTE)["promoter"]).toBe("silent");
});

test("what nobody waits for does not make an instance unready", () => {
  const watch = watchLoops(0);
  for (let time = 0; time < 5; time++) watch.tell(failed("pruner"), time);

  expect(watch.states(5)["pruner"]).toBe("failing");
  expect(loopsAreReady(watch.states(5))).toBe(true);
});

test("what is no loop is not told", () => {
  const watch = watchLoops(0);
  watch.tell(failed("neighbours"), 0);

  expect(Object.keys(watch.states(0))).not.toContain("neighbours");
});
