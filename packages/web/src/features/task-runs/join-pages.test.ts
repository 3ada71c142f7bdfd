import { describe, expect, test } from "vitest";
import { type Fallen, fallBehind, hasHole, joinPages, NOTHING_FALLEN, type Page } from "./join-pages.ts";

interface Row {
  readonly taskRunId: string;
}

const rows = (...ids: readonly string[]): readonly Row[] => ids.map((taskRunId) => ({ taskRunId }));
const page = (next: string | null, ...ids: readonly string[]): Page<Row> => ({
  taskRuns: rows(...ids),
  next,
});
const ids = (list: readonly Row[]): string => list.map(({ taskRunId }) => taskRunId).join("");

describe("a first page that moves", () => {
  test("leaves no hole: what falls behind its end stays in the list until it is read again", () => {
    const before = page("f", "h", "g", "f");
    const now = page("h", "j", "i", "h");
    const fallen = fallBehind(NOTHING_FALLEN, before, now, "f");

    expect(ids(joinPages(now, fallen, { from: "f", rows: rows("e", "d") }))).toBe("jihgfed");
    expect(hasHole(fallen, "f")).toBe(false);
  });

  test("shows nothing twice once the older ones were read behind it", () => {
    const fallen: Fallen<Row> = { rows: rows("g", "f"), unseenBelow: null };

    expect(ids(joinPages(page("h", "j", "i", "h"), fallen, { from: "h", rows: rows("g", "f", "e") }))).toBe(
      "jihgfe",
    );
  });

  test("remembers what fell earlier", () => {
    const earlier: Fallen<Row> = { rows: rows("g", "f"), unseenBelow: null };
    const fallen = fallBehind(earlier, page("h", "j", "i", "h"), page("i", "k", "j", "i"), "f");

    expect(ids(fallen.rows)).toBe("hgf");
  });

  test("that has nothing in common with the one before leaves a hole, until it is read from there", () => {
    const fallen = fallBehind(NOTHING_FALLEN, page("f", "g", "f"), page("x", "z", "x"), "f");

    expect(hasHole(fallen, "f")).toBe(true);
    expect(hasHole(fallen, "x")).toBe(false);
  });

  test("that grows back to its end, since others left the list, has each row once", () => {
    const now = page("f", "h", "g", "f");

    expect(ids(joinPages(now, NOTHING_FALLEN, { from: "g", rows: rows("f", "e") }))).toBe("hgfe");
  });
});

test("a list that fits on the first page is that page", () => {
  const fallen: Fallen<Row> = { rows: rows("a"), unseenBelow: null };

  expect(ids(joinPages(page(null, "c", "b"), fallen, { from: "b", rows: rows("a") }))).toBe("cb");
});
