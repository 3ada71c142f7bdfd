/** What a task logs, on its way to the database and back. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import { LOG_HEAD_BYTES, LOG_TAIL_BYTES, type LogEntry } from "../domain/log.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ExecutionContext } from "../executors/executor.ts";
import { type LogChunk, writeLogs } from "../store/logs/write.ts";
import { sql } from "../store/sql.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { createLogWriter } from "./log-writer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

interface Talking {
  readonly scheduler: ManualScheduler;
  readonly taskRunId: string;
  /** Resolves when the task has ended and its log is stored; it is not settled then. */
  readonly ended: Promise<void>;
}

/** A task run that is RUNNING and does what the test says. */
async function talk(run: (context: ExecutionContext) => unknown): Promise<Talking> {
  const task = defineTask({ kind: "talk", run: (_, context) => run(context) });
  const scheduler = await box.scheduler({ tasks: [task] });
  const { taskRunId } = await scheduler.enqueue(task.task(null));
  await scheduler.claim();
  return { scheduler, taskRunId, ended: scheduler.execute() };
}

const chunk = (start: number, text: string): LogChunk => ({
  start,
  end: start + text.length,
  stream: "stdout",
  text,
});
const textOf = (entries: readonly LogEntry[]): string => entries.map(({ text }) => text).join("");

describe("context.log", () => {
  it("stores lines before the task run ends, in their order", async () => {
    const { scheduler, taskRunId, ended } = await talk(({ log }) => {
      log("one");
      log("two\n");
      log(Buffer.from("three"), "stderr");
    });
    await ended;

    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    const { entries, next, ended: isEnd } = await scheduler.readLog(taskRunId);
    expect(entries.map(({ stream, text, offset }) => [stream, text, offset])).toEqual([
      ["task", "one\ntwo\n", 0],
      ["stderr", "three", 8],
    ]);
    expect({ next, isEnd }).toEqual({ next: 13, isEnd: false });
    await scheduler.settle();
    expect((await scheduler.readLog(taskRunId, { from: next })).ended).toBe(true);
  });

  it("can be read while the task runs", async () => {
    const end = deferred();
    const { scheduler, taskRunId, ended } = await talk(async ({ log }) => {
      log("at work");
      await end.promise;
    });

    await waitUntil(
      "it is stored",
      async () => textOf((await scheduler.readLog(taskRunId)).entries) === "at work\n",
    );
    end.resolve();
    await ended;
  });

  it("costs nothing where nothing is logged", async () => {
    const { ended } = await talk(() => null);
    await ended;

    expect(Number(await box.value("SELECT count(*) FROM signalbox.log_chunk"))).toBe(0);
  });

  it("stores what PostgreSQL could not: NUL, lone surrogates, invalid UTF-8", async () => {
    const { scheduler, taskRunId, ended } = await talk(({ log }) => {
      log("a\u0000b\uD800c");
      log(Buffer.from([0xff, 0x41, 0xe2, 0x82]));
    });
    await ended;

    expect(textOf((await scheduler.readLog(taskRunId)).entries)).toBe("a\uFFFDb\uFFFDc\n\uFFFDA\uFFFD");
  });

  it("keeps the beginning and the end of a long log", async () => {
    const { scheduler, taskRunId, ended } = await talk(async ({ log }) => {
      log("the beginning");
      for (let count = 0; count < 60; count += 1) {
        log(Buffer.alloc(100_000, "."));
        // Now and then something is stored meanwhile.
        if (count % 20 === 0) await waitUntil("some is stored", isAnyStored);
      }
      log("the end");
    });
    await ended;

    const { entries } = await scheduler.readLog(taskRunId, { limit: 1_000 });
    const text = textOf(entries);
    expect(text.startsWith("the beginning\n")).toBe(true);
    expect(text.endsWith("the end\n")).toBe(true);
    expect(text.length).toBeGreaterThanOrEqual(LOG_HEAD_BYTES + LOG_TAIL_BYTES);
    expect(text.length).toBeLessThan(LOG_HEAD_BYTES + LOG_TAIL_BYTES + 200_000);
    const leftOut = entries.reduce((sum, { leftOutBytes }) => sum + leftOutBytes, 0);
    expect(leftOut + text.length).toBe(14 + 6_000_000 + 8);
  });

  async function isAnyStored(): Promise<boolean> {
    return Number(await box.value("SELECT count(*) FROM signalbox.log_chunk")) > 0;
  }
});

describe("a log is written only in the name of the current claim", () => {
  it.each(["another number", "another owner"])("%s is refused", async (which) => {
    const { scheduler, ended } = await talk(() => null);
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    const { taskRunId, claimNo } = held.claim;
    const other = await box.scheduler();
    const write =
      which === "another number"
        ? { taskRunId, claimNo: claimNo + 1, claimedBy: scheduler.instanceId }
        : { taskRunId, claimNo, claimedBy: other.instanceId };

    const stored = await box
      .pool("writer")
      .transaction(async (tx) => await writeLogs(tx, [{ ...write, chunks: [chunk(0, "x")] }]));

    expect([...stored]).toEqual([]);
    expect(Number(await box.value("SELECT count(*) FROM signalbox.log_chunk"))).toBe(0);
  });

  it("not after it ended, also when it ends while the write waits for it", async () => {
    const { scheduler, ended } = await talk(() => null);
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    const { taskRunId, claimNo } = held.claim;
    const locked = deferred();
    const commit = deferred();
    const ending = box.pool("ender").transaction(async (tx) => {
      await tx.query(
        sql("end")`
          UPDATE signalbox.task_run SET status = 'FAILED', outcome = 'X', finished_at = clock_timestamp()
           WHERE id = ${taskRunId}`,
      );
      locked.resolve();
      await commit.promise;
    });
    await locked.promise;

    const writing = box
      .pool("late writer")
      .transaction(
        async (tx) =>
          await writeLogs(tx, [
            { taskRunId, claimNo, claimedBy: scheduler.instanceId, chunks: [chunk(0, "x")] },
          ]),
      );
    await waitUntilBlocked(box.db.client, "late writer");
    commit.resolve();
    await ending;

    expect([...(await writing)]).toEqual([]);
    expect(Number(await box.value("SELECT count(*) FROM signalbox.log_chunk"))).toBe(0);
  });

  it("and the same chunks twice are stored once", async () => {
    const { scheduler, ended } = await talk(() => null);
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    const { taskRunId, claimNo } = held.claim;
    const chunks = [chunk(0, "ab"), chunk(2, "c")];
    const pool = box.pool("writer");
    for (const _ of [1, 2])
      await pool.transaction(
        async (tx) => await writeLogs(tx, [{ taskRunId, claimNo, claimedBy: scheduler.instanceId, chunks }]),
      );

    expect(textOf((await scheduler.readLog(taskRunId)).entries)).toBe("abc");
  });
});

describe("a stored log", () => {
  it("loses its middle as it grows, never its beginning nor its last mebibyte", async () => {
    const { scheduler, ended } = await talk(() => null);
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    const { taskRunId, claimNo } = held.claim;
    const pool = box.pool("writer");
    const text = "x".repeat(32_768);
    for (let start = 0; start < 80 * text.length; start += 4 * text.length) {
      const chunks = [0, 1, 2, 3].map((index) => chunk(start + index * text.length, text));
      await pool.transaction(
        async (tx) => await writeLogs(tx, [{ taskRunId, claimNo, claimedBy: scheduler.instanceId, chunks }]),
      );
    }

    const { entries, next } = await scheduler.readLog(taskRunId);
    expect(next).toBe(80 * text.length);
    expect(textOf(entries)).toHaveLength(LOG_HEAD_BYTES + LOG_TAIL_BYTES);
    expect(entries.map(({ leftOutBytes }) => leftOutBytes).filter((bytes) => bytes > 0)).toEqual([
      next - LOG_HEAD_BYTES - LOG_TAIL_BYTES,
    ]);
  });

  it("goes on behind what an earlier claim of the same task run has written", async () => {
    const { scheduler, taskRunId, ended } = await talk(({ log }) => log("first claim"));
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    await box.query("UPDATE signalbox.task_run SET claim_no = claim_no + 1 WHERE id = $1", [taskRunId]);
    const claim = { ...held.claim, claimNo: held.claim.claimNo + 1 };
    const writer = createLogWriter({ pool: box.pool("writer"), emit: () => {}, onStored: () => {} });

    const log = writer.open(claim, scheduler.instanceId);
    log.write("second claim");
    await log.end();

    const { entries } = await scheduler.readLog(taskRunId);
    expect(entries.map(({ text, offset }) => [text, offset])).toEqual([
      ["first claim\n", 0],
      ["second claim\n", 12],
    ]);
  });
});

describe("while the database is away", () => {
  it("a log keeps what will be kept anyway, and stores it when the database is back", async () => {
    const { scheduler, ended } = await talk(() => null);
    await ended;
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing is held");
    const real = box.pool("writer");
    let isAway = true;
    let tries = 0;
    const writer = createLogWriter({
      pool: {
        ...real,
        transaction: async (work) => {
          tries += 1;
          if (isAway) throw new Error("away");
          return await real.transaction(work);
        },
      },
      emit: () => {},
      onStored: () => {},
    });
    const log = writer.open(held.claim, scheduler.instanceId);
    log.write("first");
    await waitUntil("it was tried", () => tries > 0);
    for (let count = 0; count < 30; count += 1) log.write(Buffer.alloc(100_000, "x"));
    const stored = log.end();

    isAway = false;
    await stored;

    const { entries } = await scheduler.readLog(held.claim.taskRunId, { limit: 1_000 });
    expect(textOf(entries).startsWith("first\nxxx")).toBe(true);
    expect(entries.filter(({ leftOutBytes }) => leftOutBytes > 0)).toHaveLength(1);
  });
});

describe("readLog and followLog", () => {
  it("read in ranges, each from where the one before ended", async () => {
    const { scheduler, taskRunId, ended } = await talk(({ log }) => {
      for (const text of ["a", "b", "c", "d"]) log(text, text < "c" ? "task" : "stderr");
      log("e", "stdout");
    });
    await ended;

    const first = await scheduler.readLog(taskRunId, { limit: 2 });
    const second = await scheduler.readLog(taskRunId, { from: first.next, limit: 2 });

    expect([textOf(first.entries), textOf(second.entries)]).toEqual(["a\nb\nc\nd\n", "e\n"]);
    await expect(scheduler.readLog(taskRunId, { limit: 0 })).rejects.toThrow("limit (0)");
    await expect(scheduler.readLog("0000")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  it("follow until the task run has ended and everything was given", async () => {
    const go = deferred();
    const { scheduler, taskRunId, ended } = await talk(async ({ log }) => {
      log("before");
      await go.promise;
      log("after");
    });
    const seen: string[] = [];
    const following = (async () => {
      for await (const { text } of scheduler.followLog(taskRunId)) {
        seen.push(text);
        go.resolve();
      }
    })();

    await ended;
    await scheduler.settle();
    await following;

    expect(seen).toEqual(["before\n", "after\n"]);
  });

  it("stop following when told", async () => {
    const { scheduler, taskRunId, ended } = await talk(({ log }) => log("x"));
    await ended;
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const { text } of scheduler.followLog(taskRunId, { signal: stop.signal })) {
      seen.push(text);
      stop.abort();
    }

    expect(seen).toEqual(["x\n"]);
  });
});
