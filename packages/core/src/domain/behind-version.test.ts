import { describe, expect, it } from "vitest";
import { placesBehindVersions } from "./behind-version.ts";
import { exclusive, shared } from "./resource.ts";
import { resolveTaskSpec, type TaskSpec } from "./task-spec.ts";

const places = (...specs: readonly Omit<TaskSpec, "kind">[]): readonly (string | null)[] =>
  placesBehindVersions(specs.map((spec) => resolveTaskSpec({ kind: "work", ...spec }, "task")));

const on = (version: string, ...names: readonly string[]): Omit<TaskSpec, "kind"> => ({
  version,
  resources: names.map((name) => exclusive(name)),
});

describe("tasks that come together", () => {
  it("wait behind the smaller versions among them, whatever their order", () => {
    expect(places(on("10", "orders"), on("9", "orders"), on("9.1", "orders"))).toEqual([
      "orders",
      null,
      "orders",
    ]);
  });

  it("parks nobody behind itself, nor behind an equal one", () => {
    expect(places(on("1", "orders"), on("1", "orders"), on("2", "users"))).toEqual([null, null, null]);
  });

  it("wait at the first of their resources that has a smaller one", () => {
    const behind = places(on("1", "users"), on("2", "orders", "users"), {
      version: "3",
      resources: [shared("orders"), shared("users")],
    });

    expect(behind).toEqual([null, "users", "orders"]);
  });

  it("wait for no version without one of their own, and for their stops first", () => {
    const stopped = { ...on("2", "orders"), stops: [{ code: "APPROVAL" }] };

    expect(places(on("1", "orders"), { resources: [exclusive("orders")] }, stopped)).toEqual([
      null,
      null,
      null,
    ]);
  });
});
