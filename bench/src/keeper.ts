/**
 * An instance beside the one that is measured, in this process: its only slot is taken by a task that never ends and
 * holds a resource. So what wants the same resource is PENDING behind it, and what wants only the slot stays AVAILABLE.
 */

import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, defineTask } from "../../packages/core/dist/index.js";
import type { Database } from "./database.ts";

export const KEPT = "kept";
const RESOURCE = "kept";
export const KEPT_LINES = 2_000;
const AT_ONCE = 50_000;
const LOOK_MS = 200;
const PATIENCE_MS = 600_000;

export interface Keeper {
  /** Parked behind its resource, each looked at by a pass. To be asked for before lines are. */
  readonly park: (count: number) => Promise<void>;
  /** In lines of versions whose first ones are AVAILABLE, each looked at by a pass. */
  readonly lineUp: (count: number) => Promise<void>;
  readonly makeAvailable: (count: number) => Promise<void>;
  /** Until a pass has looked at whatever waits. */
  readonly lookedAt: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const kept = defineTask<null>({
  kind: KEPT,
  run: async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    signal.throwIfAborted();
  },
});

/**
 * Nobody runs a kind whose every instance is gone: what is AVAILABLE of it goes back to PENDING, a bite at a time. So the
 * keeper knows the kind of the load too, for which it never has a slot; what lies ready stays so until the worker comes.
 */
const loaded = defineTask<{ n: number }>({
  kind: "nothing",
  run: () => {
    throw new Error("The keeper has no slot for this");
  },
});

export async function openKeeper(database: Database): Promise<Keeper> {
  const options = { databaseUrl: database.url, queryTimeoutMs: 120_000, batchSize: 500 };
  const scheduler = createScheduler({ ...options, tasks: [kept, loaded], slots: 1, drainMs: 0 });
  const behind = { resources: [{ name: RESOURCE, mode: "exclusive" as const }] };
  const add = async (count: number, specOf: (n: number) => ReturnType<typeof kept.task>): Promise<void> => {
    for (let from = 0; from < count; from += AT_ONCE)
      await scheduler.enqueueMany(
        Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => specOf(from + n)),
      );
  };
  const untilNone = async (what: string): Promise<void> => {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const [row] = await database.query<{ open: boolean }>(`SELECT ${what} AS open`);
      if (row?.open === false) return;
      if (performance.now() > untilMs) throw new Error(`Still so after ten minutes: ${what}`);
      await wait(LOOK_MS);
    }
  };
  await scheduler.start();
  await scheduler.enqueue(kept.task(null, behind));
  await untilNone("NOT EXISTS (SELECT FROM signalbox.task_run WHERE kind = 'kept' AND status = 'RUNNING')");
  const lookedAt = async (): Promise<void> =>
    await untilNone(`EXISTS (SELECT FROM signalbox.waiting WHERE blocked_on IS NULL)`);
  return {
    park: async (count) => {
      await add(count, () => kept.task(null, behind));
      await untilNone(
        `EXISTS (SELECT FROM signalbox.waiting WHERE kind = '${KEPT}' AND blocked_on IS DISTINCT FROM 'RESOURCE_BUSY')`,
      );
    },
    lineUp: async (count) => {
      await add(count, (n) =>
        kept.task(null, {
          resources: [{ name: `kept-${n % KEPT_LINES}`, mode: "exclusive" }],
          version: `${Math.floor(n / KEPT_LINES) + 1}`,
        }),
      );
      await lookedAt();
    },
    makeAvailable: async (count) => await add(count, () => kept.task(null)),
    lookedAt,
    stop: async () => await scheduler.stop(),
  };
}
