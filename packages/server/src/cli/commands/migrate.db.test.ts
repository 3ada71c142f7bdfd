/** `migrate plan`, `status` and `up` as they are typed. */

import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { PLAIN_LOOK } from "../../render/look.ts";
import { exitCodeOf } from "../exit-code.ts";
import { createProgram } from "../program.ts";

const FOLDER = fileURLToPath(new URL("../../../../core/migrations", import.meta.url));
const FILES = readdirSync(FOLDER)
  .filter((file) => /^\d{4}_/.test(file))
  .toSorted();

let admin: pg.Client;
let client: pg.Client;
let name: string;

beforeEach(async () => {
  name = `sb_migrate_${randomUUID().slice(0, 8)}`;
  admin = new pg.Client({ connectionString: inject("adminUrl") });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(inject("adminUrl"));
  url.pathname = `/${name}`;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  vi.stubEnv("SIGNALBOX_DATABASE_URL", url.href);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await client.end();
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.end();
});

async function typed(...words: readonly string[]): Promise<{ readonly data: string; readonly note: string }> {
  const data: string[] = [];
  const notes: string[] = [];
  const output = {
    look: PLAIN_LOOK,
    data: (line: string) => data.push(line),
    note: (line: string) => notes.push(line),
    whenClosed: () => {},
  };
  await createProgram(output, true, () => {}).parseAsync(["migrate", ...words], { from: "user" });
  return { data: data.join("\n"), note: notes.join("\n") };
}

async function exitCodeWith(...words: readonly string[]): Promise<number> {
  return exitCodeOf(await typed(...words).catch((error: unknown) => error));
}

test("a plan names the files and changes nothing, up applies them, status tells", async () => {
  expect((await typed("plan")).data.split("\n")).toEqual(FILES);
  expect((await client.query("SELECT to_regclass('signalbox.task') AS there")).rows).toEqual([
    { there: null },
  ]);
  expect((await typed("status")).note).toBe(`${FILES.length} to apply: signalbox migrate up`);

  expect((await typed("up")).data.split("\n")).toEqual(FILES.map((file) => `applied  ${file}`));

  const { data, note } = await typed("status");
  expect(data.split("\n")[0]).toMatch(/^MIGRATION +STATE +APPLIED$/);
  expect(data.split("\n")[1]).toMatch(/^0001_task_runs +applied +\d{4}-\d\d-\d\dT/);
  expect(note).toBe("");
  expect(await typed("plan")).toEqual({ data: "", note: "Nothing to apply: the schema is current." });
  expect(await typed("up")).toEqual({ data: "", note: "Nothing to apply: the schema is current." });
});

test("a plan shows the SQL of the steps that are left, and only those", async () => {
  await typed("up");
  const { rows } = await client.query<{ number: number }>(
    "DELETE FROM signalbox.migration WHERE number = (SELECT max(number) FROM signalbox.migration) RETURNING number",
  );

  const { data } = await typed("plan", "--sql");

  expect(data).toMatch(new RegExp(`^-- ${FILES.at(-1)}\n`));
  expect(data.match(/^-- \d{4}_\w+\.sql$/gm)).toHaveLength(1);
  expect(JSON.parse((await typed("plan", "--json")).data)).toMatchObject([
    { number: rows[0]?.number, sql: [expect.any(String), ...rows.slice(1).map(() => expect.any(String))] },
  ]);
});

test("everything can be had as JSON", async () => {
  expect(JSON.parse((await typed("status", "--json")).data)).toContainEqual({
    number: 1,
    name: "0001_task_runs",
    state: "pending",
    appliedAt: null,
  });
  expect(JSON.parse((await typed("up", "--json")).data)).toEqual({
    applied: FILES.map((file) => file.replace(".sql", "")),
  });
  expect(JSON.parse((await typed("plan", "--json")).data)).toEqual([]);
});

describe("the exit code says", () => {
  test("7 where the schema is newer, or has another text; status still answers", async () => {
    await typed("up");
    await client.query("INSERT INTO signalbox.migration VALUES (9999, 0, '9999_later', 'x')");
    expect([await exitCodeWith("plan"), await exitCodeWith("up")]).toEqual([7, 7]);
    expect((await typed("status")).data).toMatch(/^9999_later +unknown /m);

    await client.query("DELETE FROM signalbox.migration WHERE number = 9999");
    await client.query("UPDATE signalbox.migration SET checksum = 'x' WHERE number = 1");
    expect([await exitCodeWith("plan"), await exitCodeWith("up")]).toEqual([7, 7]);
    expect((await typed("status")).data).toMatch(/^0001_task_runs +changed /m);
  });

  test("9 where no database answers, 2 where none is given or the flag has a password", async () => {
    expect(await exitCodeWith("status", "--database-url", "postgres://127.0.0.1:1/none")).toBe(9);
    expect(await exitCodeWith("up", "--database-url", "postgres://me:secret@127.0.0.1/db")).toBe(2);
    vi.stubEnv("SIGNALBOX_DATABASE_URL", "");
    vi.stubEnv("DATABASE_URL", "");
    expect(await exitCodeWith("plan")).toBe(2);
  });
});
