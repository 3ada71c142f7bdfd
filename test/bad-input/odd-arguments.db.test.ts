/** Arguments that fit by their type and are odd all the same: they throw when they are read, are a pool, or are no length. */

import * as core from "@signalbox/core";
import { createScheduler, defineProcess, defineTask, SchedulerError } from "@signalbox/core";
import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { call, goodArguments } from "./arguments.ts";

const box = await openFixture(inject("adminUrl"));
const scheduler = createScheduler({ databaseUrl: box.db.url, tasks: [echo] });
const functions = { ...core, ...scheduler };
afterEach(async () => await box.clear());
afterAll(async () => {
  await scheduler.stop();
  await box.close();
});

const { start: _start, stop: _stop, ...called } = goodArguments(box.db.client);
const withObjects = Object.entries(called).filter(([, good]) => good.some(isPlain));

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function trap(): never {
  throw new Error("a trap");
}

/** The same object in ways in which it cannot be read. */
function trapped(good: object): readonly object[] {
  const revoked = Proxy.revocable(good, {});
  revoked.revoke();
  const [name = "kind"] = Object.keys(good);
  return [
    new Proxy(good, { get: trap }),
    new Proxy(good, { ownKeys: trap }),
    revoked.proxy,
    Object.defineProperty({ ...good }, name, { enumerable: true, get: trap }),
  ];
}

describe("what throws when it is read", () => {
  it.each(withObjects)("is refused by %s with a code and one sentence", async (name, good) => {
    const told: unknown[] = [];
    for (const [index, argument] of good.entries()) {
      if (!isPlain(argument)) continue;
      for (const bad of trapped(argument)) {
        const error = await call(functions, name, good.with(index, bad)).then(
          () => "taken",
          (thrown: unknown) => thrown,
        );
        told.push(error instanceof SchedulerError ? error.code : error);
        if (error instanceof SchedulerError) expect(error.message).toContain("throws when it is read");
      }
    }

    expect(told.length).toBeGreaterThan(0);
    expect(told.filter((code) => typeof code !== "string" || !code.startsWith("INVALID_"))).toEqual([]);
  });
});

describe("a check of an input that throws", () => {
  const schema = (validate: () => unknown) => ({
    "~standard": { version: 1 as const, vendor: "test", validate: validate as () => never },
  });
  const whimsical = [
    ["a schema that throws", defineTask({ kind: "odd", schema: schema(trap), run: () => 1 })],
    [
      "a schema that rejects",
      defineTask({ kind: "odd", schema: schema(() => Promise.reject(new Error("a trap"))), run: () => 1 }),
    ],
    ["an executor of one's own", { kind: "odd", execute: async () => 1, checkInput: async () => trap() }],
  ] as const;

  it.each(whimsical)("is INVALID_INPUT in one sentence: %s", async (_, task) => {
    const manual = await box.scheduler({ tasks: [task] });

    await expect(manual.enqueue({ kind: "odd", input: 1 })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: 'The input of "odd" is not valid: its check failed: a trap',
    });
    expect(await box.value("SELECT count(*)::integer FROM signalbox.task")).toBe(0);
  });
});

it("a pool in the place of a client is refused: its statements would not be in one transaction", async () => {
  const pool = new pg.Pool({ connectionString: box.db.url });
  const client = await pool.connect();
  await client.query("BEGIN");

  await expect(scheduler.enqueue(echo.task(1), { transaction: pool as never })).rejects.toMatchObject({
    code: "INVALID_TASK",
    message: "transaction: is a pool; give the client of it on which you sent BEGIN",
  });
  await scheduler.enqueue(echo.task(1), { transaction: client });
  await client.query("ROLLBACK");

  client.release();
  await pool.end();
  expect(await box.value("SELECT count(*)::integer FROM signalbox.task")).toBe(0);
});

it.each([Number.NaN, -1, 2 ** 31])("an executor that obeys within %s ms is refused", (obeyMs) => {
  const task = { kind: "odd", execute: async () => 1, obeyMs };

  expect(() => createScheduler({ databaseUrl: box.db.url, tasks: [task] })).toThrow(
    `tasks[0].obeyMs: ${obeyMs} is not between 0 and 2147483647 milliseconds`,
  );
});

it.each(["", "A=B", "A\nB", "A\u0000"])("a variable of the environment called %j is refused", (name) => {
  expect(() => defineProcess({ env: { [name]: "x" } })).toThrow("which is not a name for a variable");
});

it("names that an environment may have are taken", () => {
  expect(() =>
    defineProcess({ env: { "BASH_FUNC_x%%": "1", "npm_config_a-b": "2", ÄÖ: "3" } }),
  ).not.toThrow();
});
