/** What can be asked for as an operation, and what is remembered of it. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import type { OperationFilter } from "../domain/operation.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

describe("a filter", () => {
  it("that is empty is refused, and nothing is begun", async () => {
    const scheduler = await box.scheduler();

    for (const filter of [{}, { kind: undefined }] as OperationFilter[]) {
      await expect(scheduler.startOperation({ verb: "cancel", filter })).rejects.toMatchObject({
        code: "EMPTY_FILTER",
      });
      await expect(scheduler.previewOperation({ verb: "cancel", filter })).rejects.toMatchObject({
        code: "EMPTY_FILTER",
      });
    }
    expect(await scheduler.listOperations()).toEqual({ operations: [], next: null });
  });

  it.each<[OperationFilter, string]>([
    [
      { status: [] },
      "The filter names no status; give PENDING, AVAILABLE, RUNNING, DONE, FAILED, CANCELED or leave it out",
    ],
    [{ ids: [] }, "The filter names no id; give ids of task runs, or other conditions"],
    [{ ids: ["0199"] as never }, "The filter has an id that is none: 0199; give full ids of task runs"],
    [
      { ids: ["01990000-0000-7000-8000-000000000000"] as never, kind: "echo" },
      "The filter has ids and other conditions; give one or the other",
    ],
  ])("that cannot be is refused: %j", async (filter, message) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.startOperation({ verb: "retry", filter })).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message,
    });
  });
});

it("operations are listed newest first, page by page, and forgotten in their time", async () => {
  const scheduler = await box.scheduler();
  const begun = [];
  for (const kind of ["a", "b", "c"])
    begun.push(await scheduler.startOperation({ verb: "cancel", filter: { kind } }));
  while (await scheduler.carryOn());
  const ids = begun.map(({ operationId }) => operationId).toReversed();

  const first = await scheduler.listOperations({ limit: 2 });
  const second = await scheduler.listOperations({ limit: 2, ...(first.next && { before: first.next }) });
  await box.query("UPDATE signalbox.operation SET ended_at = ended_at - interval '31 days' WHERE id = $1", [
    ids[0],
  ]);
  await scheduler.prune({ DONE: 1, FAILED: 1, CANCELED: 1 });

  expect([...first.operations, ...second.operations].map(({ operationId }) => operationId)).toEqual(ids);
  expect(second.next).toBeNull();
  expect((await scheduler.listOperations()).operations.map(({ operationId }) => operationId)).toEqual(
    ids.slice(1),
  );
  await expect(scheduler.getOperation(ids[0] ?? ("" as never))).rejects.toMatchObject({
    code: "OPERATION_NOT_FOUND",
  });
});
