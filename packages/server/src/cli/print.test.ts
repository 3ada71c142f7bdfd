import { expect, test } from "vitest";
import type { Listing } from "./print.ts";
import { listLines } from "./print.ts";

interface Row {
  readonly name: string;
  readonly count: number;
}

const listing: Listing<Row> = {
  rows: [
    { name: "mail", count: 3 },
    { name: "漢字", count: 12 },
  ],
  columns: [
    { name: "name", text: ({ name }) => name },
    { name: "count", text: ({ count }) => String(count) },
    { name: "twice", wide: true, text: ({ count }) => String(2 * count) },
  ],
  nameOf: ({ name }) => name,
  empty: "none",
};

test("a table has a head and aligned columns", () => {
  expect(listLines(listing, {})).toEqual(["NAME  COUNT", "mail  3", "漢字  12"]);
});

test("wide has what else there is, and columns are those that are named", () => {
  expect(listLines(listing, { output: "wide" })[0]).toBe("NAME  COUNT  TWICE");
  expect(listLines(listing, { columns: ["twice", "NAME"] })[1]).toBe("6      mail");
  expect(() => listLines(listing, { columns: ["size"] })).toThrow(
    'There is no column "size"; there are name, count, twice',
  );
});

test("JSON is one value, jsonl a line for each, name what other commands take", () => {
  expect(listLines(listing, { json: true })).toEqual([JSON.stringify(listing.rows)]);
  expect(listLines(listing, { output: "jsonl" })).toEqual(listing.rows.map((row) => JSON.stringify(row)));
  expect(listLines(listing, { output: "name" })).toEqual(["mail", "漢字"]);
});

test("fields are those that were asked for", () => {
  expect(listLines(listing, { json: true, fields: ["count"] })).toEqual(['[{"count":3},{"count":12}]']);
  expect(() => listLines(listing, { json: true, fields: ["toString"] })).toThrow(
    'There is no field "toString"',
  );
});

test("no rows are an empty list for programs and nothing for people", () => {
  const nothing = { ...listing, rows: [] };

  expect(listLines(nothing, {})).toEqual([]);
  expect(listLines(nothing, { json: true })).toEqual(["[]"]);
  expect(listLines(nothing, { output: "jsonl" })).toEqual([]);
});
