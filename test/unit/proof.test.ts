/** Holds docs/proof.md: every pair of acts has its row, and the tests that a row names are there. */
import { expect, test } from "vitest";
import { isThere, read, tableUnder } from "./markdown.ts";
import { hasTest, testsIn } from "./page-rules.ts";

const ACTS = ["promote", "claim", "settle", "rescue", "cancel", "renew"];
const rows = tableUnder(read("docs/proof.md"), "The 21 pairs");

test("docs/proof.md has each of the 21 pairs, once", () => {
  const pairs = ACTS.flatMap((act, index) => ACTS.slice(index).map((other) => `${act} × ${other}`));

  expect(rows.map(([number, pair]) => [Number(number), pair])).toEqual(
    pairs.map((pair, index) => [index + 1, pair]),
  );
});

test.each(rows.map(([, pair = "", , tests = ""]) => [pair, tests]))(
  "%s names tests that are there",
  (_, tests) => {
    const named = tests.split(";").flatMap(testsIn);

    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ file, title }) => !isThere(file) || !hasTest(read(file), title))).toEqual([]);
  },
);

test("docs/proof.md with a test that is not there would be refused", () => {
  const [wrong] = testsIn('"flies to the moon" in `packages/core/src/engine/gate-races.db.test.ts`');

  expect(wrong).toMatchObject({ title: "flies to the moon" });
  expect(hasTest(read(wrong?.file ?? ""), wrong?.title ?? "")).toBe(false);
});
