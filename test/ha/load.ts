/**
 * Work of many sorts, enqueued without a pause while faults happen, and what people change meanwhile. Keeps the client's
 * side of the story: what was answered, and what nobody knows.
 */

import { setTimeout as wait } from "node:timers/promises";
import { type EnqueuedMany, type RunId, type Scheduler, SchedulerError, type TaskId } from "@signalbox/core";
import type pg from "pg";
import type { KeyAnswers } from "./load-keys.ts";
import { openAll, RULES, type RuleDeps, takeOffStops } from "./load-rules.ts";
import { type Call, QUEUE, RATE, SORTS, work } from "./load-work.ts";
import { isOutage } from "./outage.ts";
import type { Random } from "./random.ts";

export interface Load {
  /** Enqueued for sure: these must be found afterwards. */
  readonly acknowledged: readonly string[];
  /** Calls that ended with a broken connection: they may have happened or not. */
  readonly unknown: number;
  /** Calls that failed for any other reason. */
  readonly problems: readonly string[];
  /** How many calls of each sort of work were answered. */
  readonly answered: Readonly<Record<string, number>>;
  /** How many changes of each sort were answered. */
  readonly changed: Readonly<Record<string, number>>;
  /** By idempotency key, which is the title of its task. */
  readonly keys: KeyAnswers;
  /** Somebody else has asked for it under this key: it is asked for again until there is an answer. */
  askAgain(key: string, call: Call): void;
  /** Somebody else is about to close something: it is opened again. */
  openLater(open: () => Promise<unknown>): void;
  /** Everything that was closed is open again, and every key is answered. */
  stop(): Promise<void>;
}

const PAUSE_MS = { low: 20, high: 70 };
const AFTER_OUTAGE_MS = 150;
const RULE_SHARE = 0.14;
const KEY_SHARE = 0.1;
/** Also where the answer came. */
const ASK_AGAIN_SHARE = 0.2;
/** How long something stays closed. */
const CLOSED_MS = { low: 200, high: 1_500 };
const STOPS_SHARE = 0.1;
/** So many that it holds somebody up now and then, and keeps up with the load. */
export const STARTS = { amount: 2, perMs: 1_000 };
export const KEY_PREFIX = "once-";

interface Asked {
  readonly key: string;
  readonly call: Call;
}

export function startLoad({
  scheduler,
  db,
  random,
  tolerates,
}: {
  readonly scheduler: Scheduler;
  readonly db: pg.Pool;
  readonly random: Random;
  /** Beside those that met no database. */
  readonly tolerates: (error: unknown) => boolean;
}): Load {
  const acknowledged: string[] = [];
  const problems: string[] = [];
  const answered = zeros(SORTS.map(([sort]) => sort));
  const changed = zeros([...RULES.map(([sort]) => sort), "key", "key again", "stops taken off"]);
  const runIds: RunId[] = [];
  const taskIds: TaskId[] = [];
  const keys = new Map<string, string[]>();
  const unsure: Asked[] = [];
  const closed: { readonly open: () => Promise<unknown>; readonly atMs: number }[] = [];
  let unknown = 0;
  let stopping = false;

  const remember = ({ taskRuns, runId }: EnqueuedMany): void => {
    acknowledged.push(...taskRuns.map(({ taskRunId }) => taskRunId));
    taskIds.push(...taskRuns.map(({ taskId }) => taskId));
    if (runId !== null) runIds.push(runId);
  };
  const enqueue = async ({ specs, run }: Call, key?: string): Promise<EnqueuedMany> =>
    await scheduler.enqueueMany(specs, {
      ...(run !== undefined && { run }),
      ...(key !== undefined && { idempotencyKey: key }),
    });
  /** It stays among the unsure ones until there is an answer. */
  const ask = async (asked: Asked): Promise<void> => {
    const before = keys.get(asked.key) ?? [];
    const enqueued = await enqueue(asked.call, asked.key);
    if (before.length === 0) remember(enqueued);
    count(changed, before.length === 0 ? "key" : "key again");
    keys.set(asked.key, [...before, ...enqueued.taskRuns.map(({ taskRunId }) => taskRunId)]);
    unsure.splice(unsure.indexOf(asked), 1);
  };
  const askOnce = async (): Promise<void> => {
    const [waiting] = unsure;
    if (waiting !== undefined) return await ask(waiting);
    if (!random.chance(KEY_SHARE)) return;
    // Its title too: by that it is found in the database.
    const key = `${KEY_PREFIX}${random.between(0, 2 ** 31)}`;
    const asked = { key, call: { specs: [work(random, { title: key })] } };
    unsure.push(asked);
    await ask(asked);
    if (random.chance(ASK_AGAIN_SHARE)) unsure.push(asked);
  };
  const sorts = random.deal(SORTS);
  const step = async (): Promise<void> => {
    const [sort, make] = sorts.next();
    remember(await enqueue(make(random)));
    count(answered, sort);
    sorts.played();
    await askOnce();
  };
  let isSetUp = false;
  const setUp = async (): Promise<void> => {
    await scheduler.setRate(RATE, STARTS);
    await scheduler.setQueue(QUEUE, { limit: 2 });
    isSetUp = true;
  };
  const deps: RuleDeps = {
    scheduler,
    db,
    random,
    taskIds,
    runIds,
    openLater: (open) => {
      closed.push({ open, atMs: performance.now() + random.between(CLOSED_MS.low, CLOSED_MS.high) });
    },
  };
  const openWhatIsDue = async (): Promise<void> => {
    for (const each of closed.filter(({ atMs }) => atMs < performance.now())) {
      await each.open().catch(unlessLost);
      closed.splice(closed.indexOf(each), 1);
    }
  };
  const rules = random.deal(RULES);
  const changeRules = async (): Promise<void> => {
    await openWhatIsDue();
    if (random.chance(STOPS_SHARE)) {
      await takeOffStops(scheduler);
      count(changed, "stops taken off");
    }
    if (!random.chance(RULE_SHARE)) return;
    const [sort, change] = rules.next();
    count(changed, (await change(deps)) ?? sort);
    rules.played();
  };
  const going = (async () => {
    while (!stopping) {
      try {
        if (!isSetUp) await setUp();
        await step();
        await changeRules();
        await wait(random.between(PAUSE_MS.low, PAUSE_MS.high));
      } catch (error) {
        // A standby that took over did not know of it yet.
        if (error instanceof SchedulerError && error.code === "UNKNOWN_RATE") isSetUp = false;
        else if (isOutage(error) || tolerates(error)) unknown += 1;
        else problems.push(describe(error));
        await wait(AFTER_OUTAGE_MS);
      }
    }
  })();

  return {
    acknowledged,
    problems,
    answered,
    changed,
    keys,
    get unknown() {
      return unknown;
    },
    openLater: deps.openLater,
    askAgain: (key, call) => void unsure.push({ key, call }),
    stop: async () => {
      stopping = true;
      await going;
      try {
        await untilDone(tolerates, async () => {
          while (unsure[0] !== undefined) await ask(unsure[0]);
          await openAll(deps);
        });
      } catch (error) {
        problems.push(describe(error));
      }
    },
  };
}

function zeros(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 0]));
}

function count(counters: Record<string, number>, name: string): void {
  counters[name] = (counters[name] ?? 0) + 1;
}

/** What a failover has lost need not be opened. */
function unlessLost(error: unknown): void {
  if (error instanceof SchedulerError && /^(?:TASK|RUN)_NOT_FOUND$/.test(error.code)) return;
  throw error;
}

async function untilDone(tolerates: (error: unknown) => boolean, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) && !tolerates(error)) throw error;
      await wait(AFTER_OUTAGE_MS);
    }
  }
}

function describe(error: unknown): string {
  if (error instanceof SchedulerError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
