import { describe, expect, it } from "vitest";
import { issuePath } from "./standard-schema.ts";

describe("the path of an issue", () => {
  it("joins its parts, whichever of the two forms the library gives them in", () => {
    expect(issuePath({ message: "", path: ["to", 0, { key: "name" }] })).toBe("to.0.name");
  });

  it("is empty for the value itself", () => {
    expect(issuePath({ message: "" })).toBe("");
    expect(issuePath({ message: "", path: [] })).toBe("");
  });

  it("survives a symbol", () => {
    expect(issuePath({ message: "", path: [Symbol("s")] })).toBe("Symbol(s)");
  });
});
