/** Text that looks like SQL, as every name, filter, cursor and id: it is text, or it is refused. */

import { problemSchema, ROUTES } from "@signalbox/contract";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openApi } from "../../packages/server/test/api-fixture.ts";
import { SQL_TEXTS } from "../hostile/sql-texts.ts";

/** A tenth of them for each place, another tenth for the next: all are sent, and the long trial draws from all of them. */
const PART = 10;
/** A sleep of the texts would be nine seconds. */
const AT_ONCE_MS = 5_000;

const box = await openApi(inject("adminUrl"));
let schema: string;

beforeAll(async () => {
  schema = await schemaOf();
  await box.client.createTask({ kind: "report", title: "stays" });
});
afterEach(async () => {
  expect(box.logged).toEqual([]);
  expect(await schemaOf()).toBe(schema);
});
afterAll(box.close);

/** Every table with its columns: nothing was made, dropped or changed. */
async function schemaOf(): Promise<string> {
  const { rows } = await box.database.client.query<{ columns: string }>(
    `SELECT string_agg(format('%s.%s.%s', table_schema, table_name, column_name), ',' ORDER BY 1) AS columns
       FROM information_schema.columns WHERE table_schema NOT LIKE 'pg\\_%'`,
  );
  return rows[0]?.columns ?? "";
}

/** Those that are names: one line, and no longer than a name may be. */
const NAMES = SQL_TEXTS.filter((text) => !text.includes("\n"));

function tenthOf(place: number): readonly string[] {
  return SQL_TEXTS.filter((_, index) => index % PART === place % PART);
}

const FILTERS = ROUTES.filter(({ method }) => method === "GET").flatMap(({ path, query }) =>
  Object.keys(query?.shape ?? {}).map((name) => ({ path, name })),
);
const IDS = ROUTES.filter(({ path, method }) => method === "GET" && path.includes(":")).map(
  ({ path }) => path,
);

it("as every name of a task it is kept and found again as it is", async () => {
  const tasks = NAMES.map((text) => ({
    kind: text,
    title: text,
    queue: text,
    tags: [text],
    concurrencyKey: text,
    resources: [{ name: text, mode: "shared" as const }],
    stops: [{ code: "HELD", detail: text }],
    input: { [text]: text },
  }));

  const { taskRuns } = await box.client.createTasks({ tasks, run: { title: NAMES[0] ?? "" } });

  for (const [index, text] of NAMES.entries()) {
    if (index % PART !== 0) continue;
    const { taskRuns: found } = await box.client.listTaskRuns({ kind: text, queue: text, tag: text });
    expect(found).toMatchObject([
      { taskRunId: taskRuns[index]?.taskRunId, title: text, concurrencyKey: text },
    ]);
    expect(await box.client.getResource(text)).toMatchObject({ resource: text });
  }
});

it("as an idempotency key it names one request", async () => {
  // A key has no spaces; SQL needs none.
  const keys = NAMES.filter((text, index) => index % PART === 0 && /^[\x20-\x7e]+$/.test(text));
  for (const idempotencyKey of keys.map((text) => text.replaceAll(" ", "/**/"))) {
    const spec = { kind: "report", title: idempotencyKey };
    const first = await box.client.createTask(spec, { idempotencyKey });
    expect(await box.client.createTask(spec, { idempotencyKey })).toEqual(first);
  }
  expect(keys.length).toBeGreaterThan(40);
});

describe("as a filter, a cursor or a number it finds nothing or is refused", () => {
  it.each(FILTERS.map((filter, place) => ({ ...filter, place })))(
    "$name of $path",
    async ({ path, name, place }) => {
      const { taskRunId } = (await box.client.listTaskRuns({ kind: "report", limit: 1 })).taskRuns[0] ?? {};
      for (const text of tenthOf(place)) {
        const filled = path.replaceAll(/:\w+/g, taskRunId ?? "");
        await asked(`${filled}?${name}=${encodeURIComponent(text)}`);
      }
    },
  );
});

describe("as part of an address it finds nothing or is a name", () => {
  it.each(IDS.map((path, place) => ({ path, place })))("$path", async ({ path, place }) => {
    for (const text of tenthOf(place)) {
      await asked(path.replaceAll(/:\w+/g, encodeURIComponent(text)));
    }
  });
});

/** Answered, soon, with what was asked for or with a problem. */
async function asked(address: string): Promise<void> {
  const response = await fetch(`${box.url}${address}`, { signal: AbortSignal.timeout(AT_ONCE_MS) });
  if (address.startsWith("/api/v1/stream")) {
    await response.body?.cancel();
    expect(response.status).toBeLessThan(500);
    return;
  }
  const answer: unknown = await response.json();
  expect(response.status).toBeLessThan(500);
  if (response.status >= 400) problemSchema.parse(answer);
}
