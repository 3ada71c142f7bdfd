/** Operations and deferrals over HTTP, by the typed client: what is asked, what is answered, what is refused. */

import { afterAll, expect, inject, test } from "vitest";
import { openApi, problemOf } from "../../../test/api-fixture.ts";

const box = await openApi(inject("adminUrl"));
const { client, scheduler } = box;
afterAll(box.close);

const LATER = "2090-01-01T00:00:00.000Z";

async function enqueueLater(tag: string, count: number): Promise<void> {
  await client.createTasks({
    tasks: Array.from({ length: count }, (_, index) => ({
      kind: "report",
      title: `${tag} ${index}`,
      tags: [tag],
      runAt: LATER,
    })),
  });
}

async function carryToEnd(): Promise<void> {
  while (await scheduler.carryOn());
}

test("an operation is previewed, begun, followed, and says what it could not do", async () => {
  await enqueueLater("eu", 3);
  const [first] = (await client.listTaskRuns({ tag: "eu", limit: 1 })).taskRuns;
  await client.cancel(first?.taskRunId ?? "");

  const preview = await client.previewOperation({ verb: "cancel", filter: { tag: "eu" } });
  const begun = await client.startOperation({
    verb: "cancel",
    filter: { tag: "eu" },
    by: "ana",
    reason: "wrong data",
  });
  await carryToEnd();

  expect(preview).toMatchObject({
    verb: "cancel",
    matched: { count: 3, atLeast: false },
    eligible: { count: 2, atLeast: false },
    first: [
      { title: "eu 1", status: "PENDING" },
      { title: "eu 0", status: "PENDING" },
    ],
  });
  expect(begun).toMatchObject({ status: "RUNNING", by: "ana", reason: "wrong data", filter: { tag: "eu" } });
  expect(await client.getOperation(begun.operationId)).toMatchObject({
    status: "DONE",
    done: 2,
    endedAt: expect.any(String),
  });
  expect((await client.listOperations({ status: ["DONE"] })).operations).toMatchObject([
    { operationId: begun.operationId },
  ]);
  expect(await client.listOperationItems(begun.operationId)).toEqual({ items: [], next: null });
});

test("the same key is one operation, whatever is pressed how often", async () => {
  const request = { verb: "cancel", filter: { kind: "report", status: ["PENDING"] } } as const;

  const both = await Promise.all(
    [1, 2].map(
      async () =>
        await client.startOperation(
          { ...request, filter: { ...request.filter, status: ["PENDING"] } },
          { idempotencyKey: "press-7" },
        ),
    ),
  );

  expect(both[0]?.operationId).toBe(both[1]?.operationId);
  await carryToEnd();
});

test("ids are told one by one", async () => {
  await enqueueLater("ids", 1);
  const [taskRun] = (await client.listTaskRuns({ tag: "ids" })).taskRuns;
  const unknown = "01990000-0000-7000-8000-000000000000";

  const { operationId } = await client.startOperation({
    verb: "retry",
    filter: { ids: [taskRun?.taskRunId ?? "", unknown] },
  });
  await carryToEnd();

  expect((await client.listOperationItems(operationId, { result: "skipped", limit: 1 })).next).toBe(1);
  expect((await client.listOperationItems(operationId)).items).toMatchObject([
    { taskRunId: unknown, title: null, reason: "NOT_FOUND" },
    { taskRunId: taskRun?.taskRunId, title: "ids 0", reason: "OPEN" },
  ]);
});

test("an abort says whether it changed anything", async () => {
  await enqueueLater("abort", 1);
  const { operationId } = await client.startOperation({ verb: "cancel", filter: { tag: "abort" } });

  expect(await client.abortOperation(operationId, { by: "ana" })).toEqual({ changed: true });
  expect(await client.abortOperation(operationId)).toEqual({ changed: false });
  expect(await client.getOperation(operationId)).toMatchObject({
    status: "ABORTED",
    done: 0,
    aborted: { by: "ana" },
  });
});

test("an empty filter is a bad request; what cannot be is said in one sentence", async () => {
  expect(await problemOf(client.startOperation({ verb: "cancel", filter: {} }))).toMatchObject({
    status: 400,
    code: "EMPTY_FILTER",
  });
  expect(await problemOf(client.previewOperation({ verb: "retry", filter: {} }))).toMatchObject({
    status: 400,
    code: "EMPTY_FILTER",
  });
  expect(await problemOf(client.startOperation({ verb: "cancel", filter: { ids: ["0199"] } }))).toMatchObject(
    {
      status: 422,
      code: "INVALID_FILTER",
    },
  );
  expect(await problemOf(client.getOperation("0199"))).toMatchObject({
    status: 404,
    code: "OPERATION_NOT_FOUND",
  });
  expect(
    await problemOf(client.startOperation({ verb: "delete" as "cancel", filter: { kind: "x" } })),
  ).toMatchObject({
    status: 400,
    code: "INVALID_REQUEST",
  });
});

test("an operation can be watched", async () => {
  await enqueueLater("watch", 1);
  const { operationId } = await client.startOperation({ verb: "cancel", filter: { tag: "watch" } });
  const end = new AbortController();
  const seen: unknown[] = [];
  for await (const event of client.watch([`operations/${operationId}`], { signal: end.signal })) {
    if (event.kind !== "change" || !("body" in event)) continue;
    const { status } = event.body as { readonly status: string };
    seen.push(status);
    if (status === "RUNNING") await carryToEnd();
    if (status === "DONE") break;
  }
  end.abort();

  expect(seen.at(-1)).toBe("DONE");
});

test("a deferral answers the new run time; what runs or has ended is refused", async () => {
  const { taskRunId } = await client.createTask({ kind: "report" });

  expect(await client.defer(taskRunId, { runAt: LATER, by: "ana" })).toMatchObject({
    taskRunId,
    runAt: LATER,
  });
  expect(await client.getTaskRun(taskRunId)).toMatchObject({ status: "PENDING", runAt: LATER });
  expect(await problemOf(client.defer(taskRunId, { runAt: "2020-01-01T00:00:00Z" }))).toMatchObject({
    status: 422,
  });
  await client.cancel(taskRunId);
  expect(await problemOf(client.defer(taskRunId, { delayMs: 1_000 }))).toMatchObject({
    status: 409,
    code: "NOT_DEFERRABLE",
  });
});
