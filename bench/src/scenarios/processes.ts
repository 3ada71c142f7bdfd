/** A process per task, what it prints captured: as fast as the same Node can start them by itself, or faster. */

import { entryOf, faultsOf, inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS } from "../contestants/index.ts";
import { NOT_CAPTURED_SQL } from "../contestants/processes.ts";
import type { Database } from "../database.ts";
import type { Figure } from "../figure.ts";
import { measureWork } from "../measure-work.ts";
import { median, percentile } from "../statistics.ts";

const TASKS = 1_000;
const IN_FLIGHT = 32;

export const processes: Scenario = async (bench) => {
  const ours = entryOf("signalboxProcesses");
  const theirs = entryOf("spawned");
  const roundsOf = await inTurn(bench, [ours, theirs], async ({ contestant }, database) => {
    const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
    await enqueuer.addMany(Array.from({ length: TASKS }, (_, n) => ({ n })));
    await enqueuer.close();
    const request = { contestant, database, tasks: TASKS, concurrency: IN_FLIGHT, processes: 1 };
    const round = await measureWork(request);
    const missed = contestant === "signalboxProcesses" ? await captureFaults(database) : [];
    return { ...round, faults: [...round.faults, ...missed] };
  });
  const rate = (entry: typeof ours | typeof theirs): number =>
    median(roundsOf(entry).map(({ perSecond }) => perSecond));
  const figures = [ours, theirs].flatMap((entry): readonly Figure[] => {
    const common = { contestant: entry.title, notes: [] };
    return [
      {
        ...common,
        scenario: "processes, 32 at once",
        unit: "/s",
        value: rate(entry),
        ratio: { to: theirs.title, value: rate(entry) / rate(theirs) },
        bar: entry === ours ? { atLeast: 1.0 } : null,
        faults: faultsOf(roundsOf(entry), roundsOf(theirs)),
      },
      {
        ...common,
        // Never longer, in no round.
        scenario: "event loop blocked at most, by processes",
        unit: "ms",
        value: Math.max(...roundsOf(entry).map(({ longestBlockMs }) => longestBlockMs)),
        ratio: null,
        bar: entry === ours ? { atMost: 20 } : null,
        faults: faultsOf(roundsOf(entry)),
      },
    ];
  });
  const startsMs = roundsOf(ours).flatMap((round) => round.startsMs);
  const started: Figure = {
    scenario: "from the claim until the process runs, 32 at once, p99",
    contestant: ours.title,
    unit: "ms",
    value: percentile(startsMs, 99),
    ratio: null,
    bar: { below: 100 },
    notes: [`p50 ${percentile(startsMs, 50).toFixed(1)} ms`],
    faults: faultsOf(roundsOf(ours)),
  };
  return [...figures, started];
};

async function captureFaults(database: Database): Promise<readonly string[]> {
  const [row] = await database.query<{ missing: number }>(NOT_CAPTURED_SQL);
  return row?.missing === 0 ? [] : [`of ${row?.missing} the lines or the output are not what they printed`];
}
