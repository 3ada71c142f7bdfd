/** From the call that enqueues to the start of the handler, on a worker that has nothing else to do. */

import { setTimeout as wait } from "node:timers/promises";
import {
  type Entry,
  entryOf,
  faultsOf,
  type Place,
  type Round,
  type Scenario,
  sideBySide,
} from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import { type Database, databaseNow } from "../database.ts";
import type { Figure } from "../figure.ts";
import { leftOver, roundFaults } from "../round-faults.ts";
import { percentile } from "../statistics.ts";
import type { WorkReport } from "../worker-messages.ts";
import { openWorker } from "../worker-process.ts";

/** So many of each, then of the next: what slows the machine for some seconds slows all of them. */
const BLOCKS = 16;
const BLOCK = 25;
const TASKS = BLOCKS * BLOCK;
const PAUSE_MS = 20;
const WARM_UP = 2 * BLOCK;
/** Of each block, while the caches are still those of the one before. */
const COLD = 5;
const SLOTS = 10;
/** How long after the last call that enqueues every handler must have been called. */
const STARTED_WITHIN_MS = 10_000;

interface LatencyRound extends Round {
  readonly latencies: readonly number[];
  /** By the stamps of the rows, where they are kept: from its claim to its end, and from its enqueueing. */
  readonly claimedMs: readonly number[];
  readonly wholeMs: readonly number[];
}

type Contender = Entry & { readonly contestant: ContestantKey };

/** A worker of each that has nothing to do, and its jobs one by one. */
async function measure(places: readonly Place<Contender>[]): Promise<readonly LatencyRound[]> {
  const idle: Idle[] = [];
  try {
    for (const place of places) idle.push(await openIdle(place));
    await wait(1_000);
    for (let block = 0; block < BLOCKS; block += 1) {
      // To and fro: nobody always comes after the same one.
      for (const { add } of block % 2 === 0 ? idle : idle.toReversed()) {
        for (let n = block * BLOCK; n < (block + 1) * BLOCK; n += 1) {
          await add(n);
          await wait(PAUSE_MS);
        }
      }
    }
    const rounds: LatencyRound[] = [];
    for (const { judge } of idle) rounds.push(await judge());
    return rounds;
  } finally {
    await Promise.all(idle.map(async ({ end }) => await end()));
  }
}

interface Idle {
  readonly add: (n: number) => Promise<void>;
  /** When all have been added. */
  readonly judge: () => Promise<LatencyRound>;
  readonly end: () => Promise<void>;
}

async function openIdle({ entry: { contestant }, database }: Place<Contender>): Promise<Idle> {
  const order = { contestant, url: database.url, concurrency: SLOTS, tasks: TASKS, tellsEach: true };
  const startedAtMs = new Map<number, number>();
  const worker = await openWorker(order, {
    onCalls: () => {},
    onEach: (n, atMs) => void startedAtMs.set(n, atMs),
  });
  let report: Promise<WorkReport> | null = null;
  const endWorker = async (): Promise<WorkReport> => await (report ??= worker.end());
  const since = await databaseNow(database);
  worker.start();
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
  const calledAtMs: number[] = [];
  return {
    add: async (n) => {
      calledAtMs.push(Number(process.hrtime.bigint()) / 1e6);
      await enqueuer.addOne({ n });
    },
    judge: async () => {
      const untilMs = performance.now() + STARTED_WITHIN_MS;
      while (startedAtMs.size < TASKS && performance.now() < untilMs) await wait(50);
      const latencies = calledAtMs.flatMap((calledMs, n) => {
        const startedMs = startedAtMs.get(n);
        return startedMs === undefined || isCold(n) ? [] : [startedMs - calledMs];
      });
      const left = await leftOver(database, contestant);
      const reports = [await endWorker()];
      const round = {
        contestant,
        database,
        reports,
        tasks: TASKS,
        load: null,
        all: true,
        slots: SLOTS,
        since,
      };
      const stamps = CONTESTANTS[contestant].keepsStays === true ? await stampsOf(database) : [];
      const warm = stamps.filter((_, n) => !isCold(n));
      return {
        latencies,
        claimedMs: warm.map(({ claimed }) => claimed),
        wholeMs: warm.map(({ whole }) => whole),
        faults: [...left, ...(await roundFaults(round))],
      };
    },
    end: async () => {
      await endWorker();
      await enqueuer.close();
    },
  };
}

function isCold(n: number): boolean {
  return n < WARM_UP || n % BLOCK < COLD;
}

async function stampsOf(database: Database): Promise<readonly { claimed: number; whole: number }[]> {
  return await database.query<{ claimed: number; whole: number }>(`
    SELECT (extract(epoch FROM finished_at - claimed_at) * 1000)::float8 AS claimed,
           (extract(epoch FROM finished_at - enqueued_at) * 1000)::float8 AS whole
      FROM signalbox.task_run ORDER BY enqueued_at`);
}

/** Enqueued by one process and run by another, as with a web server and its worker. */
export const idleLatency: Scenario = async (bench) => {
  const ours = entryOf("signalbox");
  const theirs = entryOf("graphilePlain");
  const entries = [ours, entryOf("graphileBatched"), theirs];
  const roundsOf = await sideBySide<Contender, LatencyRound>(bench, entries, measure);
  const at = (entry: (typeof entries)[number], share: number): number =>
    percentile(
      roundsOf(entry).flatMap(({ latencies }) => latencies),
      share,
    );
  const latencies = [50, 99].flatMap((share) =>
    entries.map(
      (entry): Figure => ({
        scenario: `idle latency, p${share}`,
        contestant: entry.title,
        unit: "ms",
        value: at(entry, share),
        ratio: { to: theirs.title, value: at(entry, share) / at(theirs, share) },
        bar: entry === ours ? { atMost: share === 50 ? 1.0 : 1.2 } : null,
        notes: [],
        faults: faultsOf(roundsOf(entry), roundsOf(theirs)),
      }),
    ),
  );
  return [...latencies, ...stampFigures(roundsOf(ours))];
};

/** What the specification of workflows says of its own system; the end of ours is a committed row, not a message. */
function stampFigures(rounds: readonly LatencyRound[]): readonly Figure[] {
  const common = {
    contestant: CONTESTANTS.signalbox.name,
    unit: "ms",
    ratio: null,
    notes: [],
    faults: faultsOf(rounds),
  };
  return [
    {
      ...common,
      scenario: "idle, from the claim to the end of a task that takes no time, p50",
      value: percentile(
        rounds.flatMap(({ claimedMs }) => claimedMs),
        50,
      ),
      bar: null,
    },
    {
      ...common,
      scenario: "idle, from being enqueued to the end, p99",
      value: percentile(
        rounds.flatMap(({ wholeMs }) => wholeMs),
        99,
      ),
      bar: { below: 700 },
    },
  ];
}
