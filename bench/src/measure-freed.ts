/** How long a freed resource stands idle while somebody waits for it, at half of what the worker can do on this database. */

import { type Bench, faultsOf, type Round } from "./bench.ts";
import type { Load } from "./contestants/contestant.ts";
import { signalbox } from "./contestants/signalbox.ts";
import { type Database, databaseNow } from "./database.ts";
import type { Figure } from "./figure.ts";
import { gateFaults } from "./gate-faults.ts";
import { readGivenAt, watchResources } from "./given-resources.ts";
import { type Driven, isHalf, restForHalf } from "./half-load.ts";
import { measureWork } from "./measure-work.ts";
import { CONCURRENCY } from "./scenarios/no-ops.ts";
import { median, percentile } from "./statistics.ts";

const RESOURCES = 400;
const TASKS = 30_000;
/** While all lines are busy: not at the start, when each is new to the passes, nor when the first lines have ended. */
const FROM = 0.2;
const TO = 0.8;
/** For each round that is wanted: the pace has to be found, and the machine changes its own. */
const MOST_TRIES = 3;

export const HOW = {
  /** The settlement of one hands its resource on to the next. */
  "handed on": {},
  /** A limit that never binds: with a second gate it is no settlement that hands the resource on, but a pass. */
  "by a pass": { keyLimit: RESOURCES * 2 },
} as const satisfies Record<string, Pick<Load, "keyLimit">>;
export type How = keyof typeof HOW;

interface FreedRound extends Round {
  readonly perSecond: number;
  /** From the end of one until the COMMIT that gave its resource to the next; that it is on the disk takes a millisecond more. */
  readonly delaysMs: readonly number[];
}

export interface Freed extends Round {
  /** Of the rounds that were at half load. */
  readonly delaysMs: readonly number[];
  /** What the load came to. */
  readonly load: string;
}

let measurements = 0;

export async function measureFreed(bench: Bench, how: How): Promise<Freed> {
  const { rounds, note } = bench;
  const once = async (restMs: number): Promise<FreedRound> => {
    measurements += 1;
    const name = `freed-${measurements}`;
    return await bench.inDatabase(
      "signalbox",
      async (database) => await measureOnce(database, how, name, restMs),
    );
  };
  const whole: FreedRound[] = [];
  const tried: FreedRound[] = [];
  const highest = (): number => median(whole.map(({ perSecond }) => perSecond));
  const counted = (): readonly FreedRound[] => tried.filter(({ perSecond }) => isHalf(perSecond / highest()));
  let driven: Driven | null = null;
  // By turns, so that both are of the same minutes. What a turn takes beside its handler is only known after the first.
  while (counted().length < rounds && tried.length < rounds * MOST_TRIES) {
    note(`  ${how}, ${counted().length + 1} of ${rounds}`);
    whole.push(await once(0));
    const restMs = restForHalf(RESOURCES, highest(), driven ?? { restMs: 0, perSecond: highest() });
    const seen = await once(restMs);
    driven = { restMs, perSecond: seen.perSecond };
    tried.push(seen);
  }
  const half = counted();
  const faults = [
    ...faultsOf(whole, tried),
    ...(half.length < rounds ? [`${half.length} of ${rounds} rounds were at half load`] : []),
  ];
  for (const fault of faults) note(`  void: ${fault}`);
  const load = median(half.map(({ perSecond }) => perSecond)) / highest();
  return {
    delaysMs: half.flatMap(({ delaysMs }) => delaysMs),
    load: `at ${(load * 100).toFixed(0)} % of ${Math.round(highest()).toLocaleString("en")} a second`,
    faults,
  };
}

export function freedFigure(how: How, where: string, { delaysMs, load, faults }: Freed): Figure {
  const p50 = percentile(delaysMs, 50).toFixed(1);
  return {
    scenario: `a freed resource until the next is promoted, p99, ${how}${where === "" ? "" : `, ${where}`}`,
    contestant: signalbox.name,
    unit: "ms",
    value: percentile(delaysMs, 99),
    ratio: null,
    bar: { atMost: 50 },
    notes: [`${load}; p50 ${p50} ms of ${delaysMs.length}`],
    faults,
  };
}

async function measureOnce(database: Database, how: How, name: string, restMs: number): Promise<FreedRound> {
  const limits: Pick<Load, "keyLimit"> = HOW[how];
  const tasks = Array.from({ length: TASKS }, (_, n) => ({
    n,
    resource: `${name}-${n % RESOURCES}`,
    version: `${Math.floor(n / RESOURCES) + 1}`,
    ...(limits.keyLimit !== undefined && { key: "any" }),
  }));
  await watchResources(database);
  const since = await databaseNow(database);
  const load = { tasks, ...limits };
  await signalbox.enqueueLoad?.(database.url, load);
  const request = { contestant: "signalbox", database, tasks: TASKS, load, restMs } as const;
  const { faults } = await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
  // Else the server takes what was just written for empty, and compares each with each.
  await database.query("ANALYZE signalbox.task, signalbox.task_run");
  const stays = `
    WITH stay AS (
      SELECT t.id, t.claimed_at, lag(t.finished_at) OVER (PARTITION BY k.resources ORDER BY k.version) AS freed_at
        FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.enqueued_at >= $1::timestamptz AND t.kind = 'nothing'
    ), busy AS (
      SELECT percentile_disc(${FROM}) WITHIN GROUP (ORDER BY claimed_at) AS from_at,
             percentile_disc(${TO}) WITHIN GROUP (ORDER BY claimed_at) AS to_at FROM stay
    )`;
  const [busy] = await database.query<{ ms: number }>(
    `${stays} SELECT (extract(epoch FROM to_at - from_at) * 1000)::float8 AS ms FROM busy`,
    [since],
  );
  const next = await database.query<{ id: string; freedMs: number }>(
    `${stays} SELECT id, (extract(epoch FROM freed_at) * 1000)::float8 AS "freedMs"
                FROM stay, busy WHERE freed_at BETWEEN from_at AND to_at`,
    [since],
  );
  const givenAtMs = await readGivenAt(database);
  const delaysMs = next.map(({ id, freedMs }) => (givenAtMs.get(id) ?? Number.NaN) - freedMs);
  return {
    perSecond: (TASKS * (TO - FROM) * 1_000) / (busy?.ms ?? Number.NaN),
    delaysMs,
    faults: [
      ...faults,
      ...(await gateFaults(database, limits, since)),
      ...(delaysMs.some(Number.isNaN) ? ["of some it is not known when they got their resource"] : []),
    ],
  };
}
