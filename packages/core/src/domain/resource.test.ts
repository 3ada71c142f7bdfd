import { expect, it } from "vitest";
import { exclusive, shared } from "./resource.ts";

it("names a resource with the mode in which it is wanted", () => {
  expect([exclusive("prod/orders"), shared("prod/orders")]).toEqual([
    { name: "prod/orders", mode: "exclusive" },
    { name: "prod/orders", mode: "shared" },
  ]);
});
