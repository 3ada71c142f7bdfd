/** `why` without an id, as it is typed, against a server that answers. */

import { defineTask } from "@signalbox/core";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createApi } from "../../http/create-api.ts";
import { listenOnLoopback } from "../../http/listen.ts";
import { PLAIN_LOOK } from "../../render/look.ts";
import { createProgram } from "../program.ts";

const nothing = defineTask({ kind: "nothing", run: () => null });
const LATER = new Date("2090-01-01T00:00:00Z");
/** More than the largest page of a list. */
const WAITING = 501;

let database: TestDatabase;
let scheduler: ManualScheduler;
let api: FastifyInstance;
let server: string;

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [nothing] });
  api = createApi({ scheduler, serverId: "server-1", logger: { error: () => {} } });
  server = (await listenOnLoopback(api, 28_660)).url;
  await scheduler.enqueueMany(
    Array.from({ length: WAITING }, (_, index) =>
      nothing.task(null, { runAt: LATER, title: `the ${index + 1}. of them` }),
    ),
  );
});

afterAll(async () => {
  await api.close();
  await scheduler.close();
  await database.drop();
});

async function typed(...words: readonly string[]) {
  const said: string[] = [];
  const notes: string[] = [];
  const output = {
    look: PLAIN_LOOK,
    data: (line: string) => said.push(line),
    note: (line: string) => notes.push(line),
    whenClosed: () => {},
  };
  await createProgram(output, true, () => {}).parseAsync([...words, "--server", server], { from: "user" });
  return { said: said.join("\n"), notes };
}

test("shows those that wait longest, however many wait, and says that there are others", async () => {
  const { said, notes } = await typed("why", "--limit", "2");

  expect(said).toContain("the 1. of them");
  expect(said).toContain("the 2. of them");
  expect(said).not.toContain("the 3. of them");
  expect(notes).toEqual(["Others are waiting too (--limit)."]);
});

test("says so too where it shows as many as it can", async () => {
  const { notes } = await typed("why", "--limit", "500");

  expect(notes).toEqual(["Others are waiting too (--limit)."]);
}, 30_000);
