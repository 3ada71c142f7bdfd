import { describe, expect, it } from "vitest";
import { flag, having, listOf, number, objectOf, openObjectOf, text } from "./shape.ts";

interface Trip {
  readonly from: string;
  readonly stations?: readonly string[];
  readonly seat?: { readonly number: number; readonly window?: boolean };
}

const trip = objectOf<Trip>(
  {
    from: text,
    stations: listOf(text, "a list of texts"),
    seat: objectOf<NonNullable<Trip["seat"]>>({ number, window: flag }, ["number"]),
  },
  ["from"],
);

describe("a shape", () => {
  it("lets through what fits, and whatever is not given", () => {
    expect(trip({ from: "a", stations: ["b"], seat: { number: 1, window: true } })).toBeNull();
    expect(trip({ from: "a", stations: undefined, seat: null, unknown: undefined })).toBeNull();
  });

  it.each([
    [undefined, "", "is missing; give an object with from"],
    [null, "", "is null; give an object with from"],
    [[], "", "is a list; give an object with from"],
    [new Date(), "", "is a Date; give an object with from"],
    [{}, "from", "is missing; give a text"],
    [{ from: null }, "from", "is null; give a text"],
    [{ from: 1n }, "from", "is a bigint; give a text"],
    [{ from: Symbol("s") }, "from", "is a symbol; give a text"],
    [{ from: "a", stations: Object.assign(["b"], { 2: "c" }) }, "stations[1]", "is missing; give a text"],
    [{ from: "a", seat: { number: true } }, "seat.number", "is true or false; give a number"],
    [{ from: "a", seat: { nummer: 1 } }, "seat", "has no nummer; did you mean number?"],
  ])("says of %o where it does not fit, and what to give", (value, at, problem) => {
    expect(trip(value)).toEqual({ at, problem });
  });

  it("of a member that is not known names the nearest, or all of them", () => {
    expect(trip({ from: "a", statoins: [] })?.problem).toBe("has no statoins; did you mean stations?");
    expect(trip({ from: "a", STATIONS: [] })?.problem).toBe("has no STATIONS; did you mean stations?");
    expect(trip({ from: "a", to: "b" })?.problem).toBe("has no to; there are only from, stations, seat");
    expect(trip({ from: "a", ["x".repeat(1_000)]: 1 })?.problem.length).toBeLessThan(150);
  });

  it("that is open lets through more", () => {
    expect(openObjectOf({ name: text }, ["name"])({ name: "a", colour: "red" })).toBeNull();
    expect(openObjectOf({ name: text }, ["name"])({ colour: "red" })).toEqual({
      at: "name",
      problem: "is missing; give a text",
    });
  });

  it("knows an object of a library by what it has, also one that can be called", () => {
    const client = having("query", "function", "a client");

    expect(client({ query: () => {} })).toBeNull();
    expect(client(Object.assign(() => {}, { query: () => {} }))).toBeNull();
    expect(client({ query: "SELECT" })?.problem).toBe("is an object; give a client");
  });
});
