/**
 * Work of many sorts, enqueued without a pause while faults happen: at the gates of time, order, capacity and rules, with
 * retries, cancels, changed limits and pauses. Keeps the client's side of the story: what was answered, and what nobody
 * knows.
 */

import { setTimeout as wait } from "node:timers/promises";
import {
  type EnqueuedMany,
  exclusive,
  type RunId,
  type Scheduler,
  SchedulerError,
  shared,
  type TaskSpec,
} from "@signalbox/core";
import type { WorkInput } from "./instance-messages.ts";
import { isOutage } from "./outage.ts";
import type { Random } from "./random.ts";

export interface Load {
  /** Enqueued for sure: these must be found afterwards. */
  readonly acknowledged: readonly string[];
  /** Calls that ended with a broken connection: they may have happened or not. */
  readonly unknown: number;
  /** Calls that failed for any other reason. */
  readonly problems: readonly string[];
  /** How many calls of each sort were answered. */
  readonly answered: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

interface Call {
  readonly specs: readonly TaskSpec[];
  readonly run?: { readonly title: string; readonly limit: number };
}

const RESOURCES = ["orders", "users", "ledger", "search", "mail", "stock"];
const RESOURCES_WITH_VERSIONS = ["schema/a", "schema/b"];
const PAUSE_MS = { low: 20, high: 70 };
const AFTER_OUTAGE_MS = 150;
const CANCEL_SHARE = 0.06;
const LIMIT_SHARE = 0.03;
const RULE_SHARE = 0.04;
const QUEUE = "narrow";
const RATE = "calls";
/** So many that it holds somebody up now and then, and keeps up with the load. */
const STARTS = { amount: 2, perMs: 1_000 };

export function startLoad(
  scheduler: Scheduler,
  random: Random,
  /** Beside those that met no database. */
  tolerates: (error: unknown) => boolean,
): Load {
  const acknowledged: string[] = [];
  const problems: string[] = [];
  const answered: Record<string, number> = {};
  const runIds: RunId[] = [];
  let unknown = 0;
  let stopping = false;

  const remember = (sort: string, { taskRuns, runId }: EnqueuedMany): void => {
    answered[sort] = (answered[sort] ?? 0) + 1;
    acknowledged.push(...taskRuns.map(({ taskRunId }) => taskRunId));
    if (runId !== null) runIds.push(runId);
  };
  const step = async (): Promise<void> => {
    const [sort, make] = random.pick(SORTS);
    const { specs, run } = make(random);
    remember(sort, await scheduler.enqueueMany(specs, run === undefined ? {} : { run }));
    const recent = acknowledged.at(-random.between(1, 20));
    if (random.chance(CANCEL_SHARE) && recent !== undefined) {
      await scheduler.cancel(recent, { reason: "the load changed its mind" });
      answered["cancel"] = (answered["cancel"] ?? 0) + 1;
    }
    const recentRun = runIds.at(-1);
    if (random.chance(LIMIT_SHARE) && recentRun !== undefined) {
      await scheduler.setRunLimit(recentRun, random.between(1, 4));
      answered["limit"] = (answered["limit"] ?? 0) + 1;
    }
  };
  let isSetUp = false;
  const setUp = async (): Promise<void> => {
    await scheduler.setRate(RATE, STARTS);
    await scheduler.setQueue(QUEUE, { limit: 2 });
    isSetUp = true;
  };
  const changeRules = async (): Promise<void> => {
    if (!random.chance(RULE_SHARE)) return;
    const [sort, change] = random.pick(RULES);
    await change(scheduler, random);
    answered[sort] = (answered[sort] ?? 0) + 1;
  };
  const going = (async () => {
    while (!stopping) {
      try {
        if (!isSetUp) await setUp();
        await step();
        await changeRules();
        await wait(random.between(PAUSE_MS.low, PAUSE_MS.high));
      } catch (error) {
        if (isOutage(error) || tolerates(error)) unknown += 1;
        else problems.push(describe(error));
        await wait(AFTER_OUTAGE_MS);
      }
    }
  })();

  return {
    acknowledged,
    problems,
    answered,
    get unknown() {
      return unknown;
    },
    stop: async () => {
      stopping = true;
      await going;
      await openAgain(scheduler);
    },
  };
}

/** What people change meanwhile. */
const RULES: readonly (readonly [string, (scheduler: Scheduler, random: Random) => Promise<unknown>])[] = [
  ["pause", async (scheduler) => await scheduler.pause({ queue: QUEUE }, { reason: "the load rests" })],
  ["resume", async (scheduler) => await scheduler.resume({ queue: QUEUE })],
  ["resume", async (scheduler) => await scheduler.resume({ queue: QUEUE })],
  [
    "queue limit",
    async (scheduler, random) => await scheduler.setQueue(QUEUE, { limit: random.between(0, 3) }),
  ],
  ["key limit", async (scheduler, random) => await scheduler.setKeyLimit("customer:*", random.between(1, 3))],
];

/** What it paused would never drain. */
async function openAgain(scheduler: Scheduler): Promise<void> {
  for (;;) {
    try {
      await scheduler.resume({ queue: QUEUE });
      return;
    } catch (error) {
      // A trial that failed closes its scheduler, and then there is nothing to drain.
      if (!isOutage(error)) return;
      await wait(AFTER_OUTAGE_MS);
    }
  }
}

/** Each sort as often as it stands here. */
const SORTS: readonly (readonly [string, (random: Random) => Call])[] = [
  ["ungated", (random) => ({ specs: several(random, 1, 3, () => work(random)) })],
  ["ungated", (random) => ({ specs: several(random, 1, 3, () => work(random)) })],
  ["exclusive", (random) => ({ specs: [work(random, { resources: [exclusive(random.pick(RESOURCES))] })] })],
  ["exclusive", (random) => ({ specs: [work(random, { resources: [exclusive(random.pick(RESOURCES))] })] })],
  [
    "shared",
    (random) => {
      const resources = [shared(random.pick(RESOURCES))];
      return { specs: several(random, 1, 3, () => work(random, { resources })) };
    },
  ],
  ["two resources", (random) => ({ specs: [work(random, { resources: twoResources(random) })] })],
  ["version", (random) => ({ specs: versions(random) })],
  ["run", (random) => aRun(random)],
  ["run at", (random) => ({ specs: [work(random, { runAt: soon(random) })] })],
  ["failing", (random) => ({ specs: [failing(random)] })],
  ["queue", (random) => ({ specs: several(random, 1, 3, () => work(random, { queue: QUEUE })) })],
  [
    "key",
    (random) => ({
      specs: several(random, 1, 3, () =>
        work(random, { concurrencyKey: `customer:${random.between(1, 3)}` }),
      ),
    }),
  ],
  ["rate", (random) => ({ specs: [work(random, { rate: RATE })] })],
];

function several(
  random: Random,
  low: number,
  high: number,
  make: (index: number) => TaskSpec,
): readonly TaskSpec[] {
  return Array.from({ length: random.between(low, high) }, (_, index) => make(index));
}

function work(random: Random, options: Omit<TaskSpec, "kind" | "input"> = {}): TaskSpec {
  const input: WorkInput = { ms: random.between(5, 150) };
  return { kind: "work", input, priority: random.between(4, 6), ...options };
}

function twoResources(random: Random): NonNullable<TaskSpec["resources"]> {
  const first = random.pick(RESOURCES);
  const second = random.pick(RESOURCES.filter((name) => name !== first));
  return [exclusive(first), random.chance(0.5) ? exclusive(second) : shared(second)];
}

/**
 * Versions rise from call to call. Within one the larger comes first, so that it has to wait. Each minute has
 * resources of its own: checking the order takes the square of the versions on one.
 */
function versions(random: Random): readonly TaskSpec[] {
  const at = Math.floor(performance.now());
  const name = `${random.pick(RESOURCES_WITH_VERSIONS)}/${Math.floor(at / 60_000)}`;
  return [2, 1].map((minor) => {
    const resources = [random.chance(0.5) ? exclusive(name) : shared(name)];
    return work(random, { resources, version: `${at}.${minor}`, priority: 5 });
  });
}

function aRun(random: Random): Call {
  const specs = several(random, 3, 6, () =>
    random.chance(0.2)
      ? failing(random)
      : work(random, random.chance(0.3) ? { resources: [shared(random.pick(RESOURCES))] } : {}),
  );
  return { specs, run: { title: "a run", limit: random.between(0, 2) } };
}

function soon(random: Random): Date {
  return new Date(Date.now() + random.between(100, 1_500));
}

/** Fails once or twice and then succeeds, or fails for good. */
function failing(random: Random): TaskSpec {
  const input: WorkInput = { ms: random.between(5, 60), failUntil: random.pick([1, 2, 99]) };
  const backoff = { firstMs: 100, factor: 2, maxMs: 400 };
  return { kind: "work", input, retry: { attempts: 3, backoff } };
}

function describe(error: unknown): string {
  if (error instanceof SchedulerError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
