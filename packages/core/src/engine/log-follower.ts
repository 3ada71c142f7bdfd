/** Gives the log of a task run as it grows, until the task run has ended. */

import { setTimeout as wait } from "node:timers/promises";
import type { TaskRunId } from "../domain/ids.ts";
import type { LogEntry } from "../domain/log.ts";
import type { Database } from "../store/database.ts";
import { readLog } from "../store/logs/read.ts";

export interface LogFollower {
  readonly follow: (
    taskRunId: TaskRunId,
    options: { readonly from: number; readonly signal: AbortSignal | null },
  ) => AsyncGenerator<LogEntry, void, undefined>;
  /** Something was stored somewhere: look now instead of later. */
  readonly wake: () => void;
}

const POLL_MS = 500;
const PAGE = 100;

export function createLogFollower(db: Database): LogFollower {
  let waiting = new AbortController();
  return {
    follow: async function* follow(taskRunId, { from, signal }) {
      for (let next = from; signal?.aborted !== true; ) {
        // Taken before the read: what is stored after it wakes us.
        const woken = waiting.signal;
        const page = await readLog(db, taskRunId, { from: next, limit: PAGE });
        yield* page.entries;
        next = page.next;
        if (page.ended) return;
        if (page.entries.length > 0) continue;
        const until = signal === null ? woken : AbortSignal.any([woken, signal]);
        await wait(POLL_MS, undefined, { signal: until }).catch(() => {});
      }
    },
    wake: () => {
      waiting.abort();
      waiting = new AbortController();
    },
  };
}
