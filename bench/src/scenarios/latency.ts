/** From the call that enqueues to the start of the handler, on a worker that has nothing else to do. */

import { setTimeout as wait } from "node:timers/promises";
import { entryOf, faultsOf, inTurn, type Round, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import { type Database, databaseNow } from "../database.ts";
import type { Figure } from "../figure.ts";
import { leftOver, roundFaults } from "../round-faults.ts";
import { percentile } from "../statistics.ts";
import { openWorker } from "../worker-process.ts";

const TASKS = 400;
const PAUSE_MS = 20;
const WARM_UP = 50;
const SLOTS = 10;
/** How long after the last call that enqueues every handler must have been called. */
const STARTED_WITHIN_MS = 10_000;

interface LatencyRound extends Round {
  readonly latencies: readonly number[];
  /** By the stamps of the rows, where they are kept: from its claim to its end, and from its enqueueing. */
  readonly claimedMs: readonly number[];
  readonly wholeMs: readonly number[];
}

async function measure(contestant: ContestantKey, database: Database): Promise<LatencyRound> {
  const order = { contestant, url: database.url, concurrency: SLOTS, tasks: TASKS, tellsEach: true };
  const startedAtMs = new Map<number, number>();
  const worker = await openWorker(order, {
    onCalls: () => {},
    onEach: (n, atMs) => void startedAtMs.set(n, atMs),
  });
  const since = await databaseNow(database);
  worker.start();
  const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
  await wait(1_000);
  const calledAtMs: number[] = [];
  for (let n = 0; n < TASKS; n += 1) {
    calledAtMs.push(Number(process.hrtime.bigint()) / 1e6);
    await enqueuer.addOne({ n });
    await wait(PAUSE_MS);
  }
  const untilMs = performance.now() + STARTED_WITHIN_MS;
  while (startedAtMs.size < TASKS && performance.now() < untilMs) await wait(50);
  const latencies = calledAtMs.flatMap((calledMs, n) => {
    const startedMs = startedAtMs.get(n);
    return startedMs === undefined || n < WARM_UP ? [] : [startedMs - calledMs];
  });
  const left = await leftOver(database, contestant);
  await enqueuer.close();
  const reports = [await worker.end()];
  const round = { contestant, database, reports, tasks: TASKS, all: true, slots: SLOTS, since };
  const stamps = CONTESTANTS[contestant].keepsStays === true ? await stampsOf(database) : [];
  return {
    latencies,
    claimedMs: stamps.map(({ claimed }) => claimed),
    wholeMs: stamps.map(({ whole }) => whole),
    faults: [...left, ...(await roundFaults(round))],
  };
}

async function stampsOf(database: Database): Promise<readonly { claimed: number; whole: number }[]> {
  return await database.query<{ claimed: number; whole: number }>(`
    SELECT (extract(epoch FROM finished_at - claimed_at) * 1000)::float8 AS claimed,
           (extract(epoch FROM finished_at - enqueued_at) * 1000)::float8 AS whole
      FROM signalbox.task_run ORDER BY enqueued_at OFFSET ${WARM_UP}`);
}

/** Enqueued by one process and run by another, as with a web server and its worker. */
export const idleLatency: Scenario = async (bench) => {
  const ours = entryOf("signalbox");
  const theirs = entryOf("graphilePlain");
  const entries = [ours, entryOf("graphileBatched"), theirs];
  const roundsOf = await inTurn<(typeof entries)[number], LatencyRound>(
    bench,
    entries,
    async ({ contestant }, database) => await measure(contestant, database),
  );
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
