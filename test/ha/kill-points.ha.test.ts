/** The table of points at which instances are killed, against the sources of the store. */

import { expect, it } from "vitest";
import { ACTS, ALONG, killPoints } from "./kill-points.ts";
import { readStatements } from "./store-statements.ts";

const marks: readonly string[] = Object.values(ACTS).map(({ statement }) => statement);

it("leaves out no statement that writes", () => {
  const known = new Set([...marks, ...Object.values(ALONG).flat()]);
  const writing = readStatements().filter(({ writes }) => writes);

  expect(writing.filter(({ name }) => !known.has(name))).toEqual([]);
  expect(writing.length).toBeGreaterThan(90);
  const there = new Set(readStatements().map(({ name }) => name));
  expect([...known].filter((name) => !there.has(name))).toEqual([]);
});

it("has three points of each act, each by a statement that is no other's", () => {
  const texts = readStatements().map(({ text }) => text);
  const points = killPoints().filter(({ act }) => act !== null);

  expect(points).toHaveLength(3 * marks.length);
  for (const { point } of points)
    expect([point.name, texts.filter((text) => text === point.text).length]).toEqual([point.name, 1]);
});
