import { describe, expect, it } from "vitest";
import { exclusive } from "../../domain/resource.ts";
import { resolveTaskSpec, type TaskSpec } from "../../domain/task-spec.ts";
import { formsOf } from "./forms.ts";

/** How many tasks go together, one after the other. */
function together(specs: readonly Partial<TaskSpec>[]): readonly number[] {
  const tasks = specs.map((spec) => resolveTaskSpec({ kind: "mail", ...spec }));
  return formsOf(tasks).map(({ inputs }) => inputs.length);
}

describe("tasks that come one after the other", () => {
  it("have one form where only their inputs differ", () => {
    const forms = formsOf([1, 2, 3].map((input) => resolveTaskSpec({ kind: "mail", input })));

    expect(forms).toMatchObject([{ task: { kind: "mail" }, before: 0, inputs: ["1", "2", "3"] }]);
  });

  it("have one form where what is given to each is the same", () => {
    const each = (): Partial<TaskSpec> => ({
      tags: ["night"],
      retry: { attempts: 3 },
      resources: [exclusive("orders")],
      runAt: new Date("2030-01-01T00:00:00.000Z"),
      stops: [{ code: "APPROVAL" }],
    });

    expect(together([each(), each()])).toEqual([2]);
  });

  it.each<readonly [string, Partial<TaskSpec>]>([
    ["kind", { kind: "call" }],
    ["title", { title: "Another" }],
    ["priority", { priority: 4 }],
    ["queue", { queue: "night" }],
    ["tags", { tags: ["night"] }],
    ["concurrency key", { concurrencyKey: "shop:1" }],
    ["rate", { rate: "mails" }],
    ["stops", { stops: [{ code: "APPROVAL" }] }],
    ["run time", { runAt: new Date("2030-01-01T00:00:00.000Z") }],
    ["resources", { resources: [exclusive("orders")] }],
    ["version", { resources: [exclusive("orders")], version: "1" }],
    ["order", { outOfOrder: true }],
    ["retries", { retry: { attempts: 3 } }],
    ["timeouts", { timeouts: { queuedMs: 1_000 } }],
  ])("have a form of its own where one has another %s", (_, other) => {
    expect(together([{}, other, {}, {}])).toEqual([1, 1, 2]);
  });

  it("keep their order: what comes back to an earlier form begins it anew", () => {
    const tasks = [{}, { priority: 1 }, {}].map((spec) => resolveTaskSpec({ kind: "mail", ...spec }));

    expect(formsOf(tasks).map(({ before }) => before)).toEqual([0, 1, 2]);
  });
});
