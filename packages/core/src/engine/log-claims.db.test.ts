/** One log over all claims of a task run: offsets count every byte that any of them printed. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { LOG_CHUNK_BYTES, LOG_HEAD_BYTES, LOG_TAIL_BYTES, type LogPage } from "../domain/log.ts";
import { DeferError } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";
import { writeLogs } from "../store/logs/write.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** More than the beginning that is kept. */
const FIRST_CLAIM_BYTES = 100_000;
const BATCH_BYTES = 4 * LOG_CHUNK_BYTES;

let printed = "";
const deferring = defineTask({
  kind: "deferring",
  run: (_, { log }) => {
    log(Buffer.from(printed));
    throw new DeferError(0);
  },
});

/** A task run whose first claim printed and was deferred. */
async function deferredOnce(): Promise<{ readonly scheduler: ManualScheduler; readonly taskRunId: string }> {
  const scheduler = await box.scheduler({ tasks: [deferring] });
  const { taskRunId } = await scheduler.enqueue(deferring.task(null));
  await scheduler.claim();
  printed = ".".repeat(FIRST_CLAIM_BYTES);
  await scheduler.execute();
  await scheduler.settle();
  printed = "";
  return { scheduler, taskRunId };
}

/** Claims again and answers how this claim writes, from one of its bytes to another. */
async function claimAgain(scheduler: ManualScheduler): Promise<(from: number, to: number) => Promise<void>> {
  await scheduler.promote();
  await scheduler.claim();
  const [held] = scheduler.held.all();
  if (held === undefined) throw new Error("Nothing is held");
  const { taskRunId, claimNo } = held.claim;
  return async (from, to) => {
    const chunks = Array.from({ length: (to - from) / LOG_CHUNK_BYTES }, (_, index) => {
      const start = from + index * LOG_CHUNK_BYTES;
      return {
        start,
        end: start + LOG_CHUNK_BYTES,
        stream: "stdout" as const,
        text: "x".repeat(LOG_CHUNK_BYTES),
      };
    });
    await box
      .pool("writer")
      .transaction(
        async (tx) => await writeLogs(tx, [{ taskRunId, claimNo, claimedBy: scheduler.instanceId, chunks }]),
      );
  };
}

/** Bytes that are kept without a gap at the end. */
function tailOf({ entries }: LogPage): number {
  const from = entries.findLastIndex(({ leftOutBytes }) => leftOutBytes > 0);
  return entries.slice(from).reduce((sum, { text }) => sum + text.length, 0);
}

describe("the log of a later claim", () => {
  it("counts on behind the earlier one and keeps its last mebibyte, though its own middle is left out", async () => {
    const { scheduler, taskRunId } = await deferredOnce();
    const write = await claimAgain(scheduler);
    for (let from = 0; from < 12 * BATCH_BYTES; from += BATCH_BYTES) await write(from, from + BATCH_BYTES);

    const page = await scheduler.readLog(taskRunId);
    expect(page.next).toBe(FIRST_CLAIM_BYTES + 12 * BATCH_BYTES);
    expect(tailOf(page)).toBe(LOG_TAIL_BYTES);
    expect(page.entries[0]).toMatchObject({ offset: 0, text: ".".repeat(LOG_HEAD_BYTES) });
  });

  it("keeps its offsets when a first write that left out a part of itself is sent again", async () => {
    const { scheduler, taskRunId } = await deferredOnce();
    const write = await claimAgain(scheduler);
    const bytes = 5 * BATCH_BYTES;
    await write(0, bytes);
    await write(0, bytes);

    const page = await scheduler.readLog(taskRunId);
    expect(page.next).toBe(FIRST_CLAIM_BYTES + bytes);
    expect(tailOf(page)).toBe(LOG_TAIL_BYTES);
  });

  it("keeps where it began, and no longer than it goes on: a next claim leaves that out too", async () => {
    const { scheduler, taskRunId } = await deferredOnce();
    const claimBytes = 6 * BATCH_BYTES;
    for (const _ of [1, 2, 3]) {
      const write = await claimAgain(scheduler);
      await write(0, claimBytes);
      await scheduler.execute();
      await scheduler.settle();
    }

    const { entries, next } = await scheduler.readLog(taskRunId);
    expect(next).toBe(FIRST_CLAIM_BYTES + 3 * claimBytes);
    expect(
      entries.filter(({ offset }) => offset < next - LOG_TAIL_BYTES).map(({ offset }) => offset),
    ).toEqual([0, FIRST_CLAIM_BYTES + 2 * claimBytes]);
  });
});
