/** SIGTERM to real processes under load: each leaves in time, and nothing of it is left RUNNING. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createScheduler, exclusive, type TaskSpec } from "@signalbox/core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../packages/core/src/testing/test-database.ts";
import { until } from "./until.ts";

const FILE = fileURLToPath(new URL("./shutdown-process.mjs", import.meta.url));
/** The drain, the time to obey, and what a busy machine takes. */
const LEAVE_WITHIN_MS = 20_000;

let db: TestDatabase;
let children: ChildProcess[] = [];
beforeAll(async () => {
  db = await createTestDatabase(inject("adminUrl"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  await db.clear();
});
afterAll(async () => await db.drop());

async function start(name: string): Promise<ChildProcess> {
  const child = fork(FILE, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  children.push(child);
  await once(child, "message");
  child.send({ name, databaseUrl: db.url });
  await once(child, "message");
  return child;
}

/** Answers its exit code. */
async function leave(child: ChildProcess, signals: readonly NodeJS.Signals[]): Promise<number | null> {
  const over = once(child, "exit", { signal: AbortSignal.timeout(LEAVE_WITHIN_MS) });
  for (const signal of signals) child.kill(signal);
  const [code] = (await over) as [number | null];
  return code;
}

async function rows<Row>(text: string): Promise<readonly Row[]> {
  return (await db.client.query({ text })).rows as Row[];
}
const count = async (from: string): Promise<number> =>
  (await rows<{ count: number }>(`SELECT count(*)::integer AS count ${from}`))[0]?.count ?? Number.NaN;

function load(): readonly TaskSpec[] {
  return Array.from({ length: 120 }, (_, index): TaskSpec => {
    const ms = 20 + ((index * 37) % 400);
    if (index % 10 === 0) return { kind: "work", input: { ms: 2_000 } };
    if (index % 15 === 1) return { kind: "stubborn", input: { ms: 1_500 } };
    if (index % 6 === 2) return { kind: "outside", input: { ms } };
    if (index % 4 === 3) return { kind: "work", input: { ms }, resources: [exclusive(`r${index % 5}`)] };
    return { kind: "work", input: { ms } };
  });
}

describe("SIGTERM under load", () => {
  it("is answered in time; the rest of the work is done by the others, and nobody waits for a lease", async () => {
    const scheduler = createScheduler({ databaseUrl: db.url });
    const [first, second] = [await start("first"), await start("second")];
    await start("third");
    await scheduler.enqueueMany(load());
    await until(
      "all three are at work",
      async () =>
        (await count(
          "FROM (SELECT DISTINCT claimed_by FROM signalbox.task_run WHERE status = 'RUNNING' AND claimed_by IS NOT NULL) AS busy",
        )) === 3,
      { withinMs: 30_000 },
    );

    // A hasty operator sends it twice.
    const codes = await Promise.all([leave(first, ["SIGTERM"]), leave(second, ["SIGTERM", "SIGTERM"])]);

    expect(codes).toEqual([0, 0]);
    expect(
      await count(`FROM signalbox.task_run AS t JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
                    WHERE t.status = 'RUNNING' AND i.name IN ('first', 'second')`),
    ).toBe(0);
    expect(await count("FROM signalbox.instance WHERE state <> 'DEAD' AND name IN ('first', 'second')")).toBe(
      0,
    );
    await until(
      "everything has ended",
      async () =>
        (await count("FROM signalbox.task_run WHERE status IN ('PENDING', 'AVAILABLE', 'RUNNING')")) === 0,
      { withinMs: 60_000 },
    );
    const outcomes = await rows<{ outcome: string }>("SELECT DISTINCT outcome FROM signalbox.task_run");
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(["SUCCEEDED", "SHUTDOWN"]));
    expect(outcomes).not.toContainEqual({ outcome: "LEASE_LOST" });
    expect(await count("FROM signalbox.task_run WHERE status = 'DONE'")).toBe(120);
    for (const table of ["outside_job", "claim_batch", "hold"])
      expect(await count(`FROM signalbox.${table}`)).toBe(0);
    expect((await scheduler.checkInvariants({ since: new Date(0) })).violations).toEqual([]);
    await scheduler.stop();
  });

  it("then KILL: what had not ended is rescued like that of any lost instance", async () => {
    const scheduler = createScheduler({ databaseUrl: db.url });
    const doomed = await start("doomed");
    await scheduler.enqueueMany(load());
    await until("it is at work", async () => (await count("FROM signalbox.claim_batch")) > 0, {
      withinMs: 30_000,
    });

    await leave(doomed, ["SIGTERM", "SIGKILL"]);
    await start("heir");

    await until(
      "everything has ended",
      async () =>
        (await count("FROM signalbox.task_run WHERE status IN ('PENDING', 'AVAILABLE', 'RUNNING')")) === 0,
      { withinMs: 60_000 },
    );
    expect(await count("FROM signalbox.task_run WHERE status = 'DONE'")).toBe(120);
    expect((await scheduler.checkInvariants({ since: new Date(0) })).violations).toEqual([]);
    await scheduler.stop();
  });
});
