/** A database that is not there, not for us or not ready, and a scheduler that was stopped: an error with a code, for every call. */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createScheduler, defineTask, type Enqueued, type Scheduler, SchedulerError } from "@signalbox/core";
import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../packages/core/test/deferred.ts";
import { openFaultProxy } from "../../packages/core/test/fault-proxy.ts";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { waitUntil } from "../../packages/core/test/wait-until.ts";
import { call, goodArguments } from "./arguments.ts";

const box = await openFixture(inject("adminUrl"));
const opened: Scheduler[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(async (each) => await each.stop()));
  await box.clear();
});
afterAll(box.close);

function open(databaseUrl: string): Scheduler {
  const scheduler = createScheduler({ databaseUrl, tasks: [echo] });
  opened.push(scheduler);
  return scheduler;
}

/** The URL of the tests' database, changed. */
function elsewhere(change: (url: URL) => void): string {
  const url = new URL(box.db.url);
  change(url);
  return url.href;
}

async function refusal(work: Promise<unknown>): Promise<SchedulerError> {
  const error: unknown = await work.then(
    () => new Error("It was accepted"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof SchedulerError) return error;
  throw error;
}

/** Every call that asks the database, as its caller would make it. */
function askingCalls(scheduler: Scheduler): readonly (readonly [name: string, given: readonly unknown[]])[] {
  const good = new Map(Object.entries(goodArguments(box.db.client)));
  const quiet = ["migrate", "start", "stop", "health"];
  return Object.keys(scheduler)
    .filter((name) => !quiet.includes(name))
    .map((name) => [name, name.startsWith("enqueue") ? enqueued(name) : (good.get(name) ?? [])]);
}

function enqueued(name: string): readonly unknown[] {
  return [name === "enqueue" ? { kind: "echo" } : [{ kind: "echo" }]];
}

async function codesOf(scheduler: Scheduler, except?: keyof Scheduler): Promise<ReadonlySet<string>> {
  const codes = new Set<string>();
  for (const [name, given] of askingCalls(scheduler))
    if (name !== except) codes.add((await refusal(call(scheduler, name, given))).code);
  return codes;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("a database that is not there", () => {
  it("is said by every call, with its place and without its password", async () => {
    const port = await closedPort();
    const scheduler = open(`postgres://me:secret@127.0.0.1:${port}/app`);

    expect(await codesOf(scheduler)).toEqual(new Set(["DATABASE_UNREACHABLE"]));
    for (const ask of [scheduler.migrate, scheduler.start, scheduler.overview]) {
      const error = await refusal(ask());
      expect(error.message).toBe(
        `The database at 127.0.0.1:${port}/app does not answer: nothing listens there; start it, or correct databaseUrl`,
      );
      expect(error).toMatchObject({ code: "DATABASE_UNREACHABLE", cause: { code: "ECONNREFUSED" } });
    }
  });
});

it("a database that takes a connection and says nothing is told as slow to connect to", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const scheduler = createScheduler({
    databaseUrl: elsewhere((url) => (url.port = String(port))),
    queryTimeoutMs: 1_000,
  });
  opened.push(scheduler);
  try {
    for (const ask of [scheduler.start, scheduler.overview, () => scheduler.enqueue({ kind: "echo" })])
      expect(await refusal(ask())).toMatchObject({
        code: "DATABASE_UNREACHABLE",
        details: {
          problem: "connecting took too long; look at the network and at the server, and call again",
        },
      });
  } finally {
    silent.close();
  }
});

describe("a database that refuses", () => {
  it("a password says so, and never shows it", async () => {
    const scheduler = open(elsewhere((url) => (url.password = "not-the-password")));

    expect(await codesOf(scheduler)).toEqual(new Set(["DATABASE_REFUSED"]));
    for (const ask of [scheduler.migrate, scheduler.start]) {
      const error = await refusal(ask());
      expect(error).toMatchObject({ code: "DATABASE_REFUSED", cause: { code: "28P01" } });
      expect(error.message).toMatch(/password authentication failed for user .*; correct databaseUrl/);
      expect(JSON.stringify([error, error.message, error.stack])).not.toContain("not-the-password");
    }
  });

  it("a name says that there is no such database, and made later it serves the same scheduler", async () => {
    const scheduler = open(elsewhere((url) => (url.pathname = "/nobody_made_it")));

    for (const ask of [scheduler.migrate, scheduler.start, () => scheduler.enqueue({ kind: "echo" })]) {
      const error = await refusal(ask());
      expect(error).toMatchObject({ code: "DATABASE_REFUSED", cause: { code: "3D000" } });
      expect(error.message).toMatch(
        /^The database at \S+\/nobody_made_it refuses: .*does not exist; create it, or correct databaseUrl$/,
      );
    }
    await box.query("CREATE DATABASE nobody_made_it");
    try {
      await scheduler.migrate();
      await scheduler.start();
      expect((await scheduler.overview()).instances).toMatchObject([{ state: "LIVE" }]);
    } finally {
      await scheduler.stop();
      await box.query("DROP DATABASE nobody_made_it WITH (FORCE)");
    }
  });
});

it("a database without the schema says that it is to be migrated, by every call but the one that says how", async () => {
  await box.query("CREATE DATABASE not_migrated");
  const scheduler = open(elsewhere((url) => (url.pathname = "/not_migrated")));
  try {
    expect(await codesOf(scheduler, "migrations")).toEqual(new Set(["SCHEMA_NOT_CURRENT"]));
    expect(new Set((await scheduler.migrations()).map(({ state }) => state))).toEqual(new Set(["pending"]));
    expect(await refusal(scheduler.enqueue({ kind: "echo" }))).toMatchObject({
      details: { found: 0 },
      cause: { code: "3F000" },
    });
    expect((await refusal(scheduler.start())).code).toBe("SCHEMA_NOT_CURRENT");
  } finally {
    await scheduler.stop();
    await box.query("DROP DATABASE not_migrated WITH (FORCE)");
  }
});

describe("a scheduler that was stopped", () => {
  it("says so to every call", async () => {
    const scheduler = open(box.db.url);
    await scheduler.overview();
    await scheduler.stop();

    expect(await codesOf(scheduler)).toEqual(new Set(["SCHEDULER_STOPPED"]));
    expect((await refusal(scheduler.migrate())).code).toBe("SCHEDULER_STOPPED");
    expect((await refusal(scheduler.start())).code).toBe("ALREADY_STARTED");
    expect(scheduler.health()).toBeDefined();
    await scheduler.stop();
  });

  it("answers what runs until that has ended", async () => {
    const running = deferred();
    const goOn = deferred();
    let enqueuedLate: Promise<Enqueued> | null = null;
    const late = defineTask({
      kind: "late",
      run: async () => {
        running.resolve();
        await goOn.promise;
        enqueuedLate = scheduler.enqueue({ kind: "echo", stops: [{ code: "WAIT" }] });
        await enqueuedLate;
      },
    });
    const scheduler = createScheduler({ databaseUrl: box.db.url, tasks: [late] });
    await scheduler.start();
    const { taskRunId } = await scheduler.enqueue({ kind: "late" });
    await running.promise;

    const stopped = scheduler.stop();
    goOn.resolve();
    await stopped;

    expect(await box.statusOf(taskRunId)).toBe("DONE");
    await expect(enqueuedLate).resolves.toMatchObject({ status: "PENDING" });
  });
});

describe("a connection that breaks", () => {
  it("after the COMMIT was sent leaves it unknown whether it happened, and says how to ask again", async () => {
    const proxy = await openFaultProxy(box.db.url);
    const scheduler = open(proxy.url);
    const cut = proxy.cutAfterCommit();

    const error = await refusal(scheduler.enqueue({ kind: "echo" }));
    await cut;

    expect(error.code).toBe("ANSWER_LOST");
    expect(error.message).toMatch(/not known whether it happened; .*idempotency key/);
    expect(error.cause).toBeInstanceOf(Error);
    expect(await box.value("SELECT count(*)::integer FROM signalbox.task")).toBe(1);
    await scheduler.stop();
    await proxy.close();
  });

  it("before it has done nothing: the call may be repeated as it is", async () => {
    const scheduler = open(box.db.url);
    const enqueue = async () => await scheduler.enqueue({ kind: "echo" }, { idempotencyKey: "k" });
    const holder = new pg.Client({ connectionString: box.db.url, query_timeout: 30_000 });
    await holder.connect();
    await holder.query("BEGIN");
    await scheduler.enqueue({ kind: "echo" }, { idempotencyKey: "k", transaction: holder });
    const broken = refusal(enqueue());
    await waitUntil(
      "the call waits and was cut",
      async () =>
        (
          await box.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        ).length > 0,
    );

    expect(await broken).toMatchObject({ code: "DATABASE_UNREACHABLE", cause: { code: "57P01" } });
    await holder.end();
    expect(await box.value("SELECT count(*)::integer FROM signalbox.task")).toBe(0);
    await enqueue();
  });
});
