/** How long a freed resource stands idle while somebody waits for it, at half of what the worker can do. */

import type { Bench, Scenario } from "../bench.ts";
import type { Load } from "../contestants/contestant.ts";
import { signalbox } from "../contestants/signalbox.ts";
import type { Figure } from "../figure.ts";
import { gateFaults } from "../gate-faults.ts";
import { measureWork, type WorkRound } from "../measure-work.ts";
import { percentile } from "../statistics.ts";
import { CONCURRENCY } from "./no-ops.ts";

const RESOURCES = 400;
const TASKS = 12_000;

const few: Load = {
  tasks: Array.from({ length: TASKS }, (_, n) => ({
    n,
    resource: `database-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
  })),
};

/** A limit that never binds: with a second gate it is no settlement that hands the resource on, but a pass. */
const withKeys: Load = { tasks: few.tasks.map((task) => ({ ...task, key: "any" })), keyLimit: RESOURCES * 2 };

interface Freed {
  readonly round: WorkRound;
  /** From the end of one to the promotion of the next on the same resource. */
  readonly delaysMs: readonly number[];
}

async function measure({ server, note }: Bench, title: string, load: Load, restMs: number): Promise<Freed> {
  note(`  ${title}`);
  const database = await server.createDatabase();
  try {
    await signalbox.install(database.url);
    await signalbox.enqueueLoad?.(database.url, load);
    const request = { contestant: "signalbox", database, tasks: load.tasks.length, restMs } as const;
    const round = await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
    const faults = await gateFaults(database, load);
    const rows = await database.query<{ ms: number }>(`
      SELECT (extract(epoch FROM available_at - freed_at) * 1000)::float8 AS ms
        FROM (SELECT t.available_at, lag(t.finished_at) OVER (PARTITION BY k.resources ORDER BY k.version) AS freed_at
                FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id) AS stay
       WHERE freed_at IS NOT NULL`);
    return {
      round: { ...round, faults: [...round.faults, ...faults] },
      delaysMs: rows.map(({ ms }) => ms),
    };
  } finally {
    await database.drop();
  }
}

/** Its own full rate first: what is handed on goes faster than what a pass decides. */
async function figureOf(bench: Bench, who: string, load: Load): Promise<Figure> {
  const { round: whole } = await measure(bench, `${who}, as fast as it goes`, load, 0);
  const restMs = Math.round((RESOURCES / (whole.perSecond / 2)) * 1_000);
  const { round, delaysMs } = await measure(bench, `${who}, at half of that`, load, restMs);
  const rates = `at ${Math.round(round.perSecond)} a second, beside ${Math.round(whole.perSecond)} at most`;
  return {
    scenario: `a freed resource until the next is promoted, p99, ${who}`,
    contestant: signalbox.name,
    unit: "ms",
    value: percentile(delaysMs, 99),
    ratio: null,
    bar: { atMost: 50 },
    notes: [`${rates}; p50 ${percentile(delaysMs, 50).toFixed(1)} ms`],
    faults: [...whole.faults, ...round.faults],
  };
}

export const freed: Scenario = async (bench) => [
  await figureOf(bench, "handed on", few),
  await figureOf(bench, "by a pass", withKeys),
];
