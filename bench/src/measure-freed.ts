/** How long a freed resource stands idle while somebody waits for it, at half of what the worker can do on this database. */

import { faultsOf, type Round } from "./bench.ts";
import type { Load } from "./contestants/contestant.ts";
import { signalbox } from "./contestants/signalbox.ts";
import { type Database, databaseNow } from "./database.ts";
import type { Figure } from "./figure.ts";
import { gateFaults } from "./gate-faults.ts";
import { type Driven, loadText, restForHalf } from "./half-load.ts";
import { measureWork } from "./measure-work.ts";
import { CONCURRENCY } from "./scenarios/no-ops.ts";
import { median, percentile } from "./statistics.ts";

const RESOURCES = 400;
const TASKS = 12_000;
/** While all lines are busy: not at the start, when each is new to the passes, nor when the first lines have ended. */
const FROM = 0.1;
const TO = 0.8;

export const HOW = {
  /** The settlement of one hands its resource on to the next. */
  "handed on": {},
  /** A limit that never binds: with a second gate it is no settlement that hands the resource on, but a pass. */
  "by a pass": { keyLimit: RESOURCES * 2 },
} as const satisfies Record<string, Pick<Load, "keyLimit">>;
export type How = keyof typeof HOW;

interface FreedRound extends Round {
  readonly perSecond: number;
  /** From the end of one to the promotion of the next on the same resource. */
  readonly delaysMs: readonly number[];
}

/** Where the rounds of a measurement take place: a database of their own for each, or all on one that is aged. */
export type InDatabase = (act: (database: Database) => Promise<FreedRound>) => Promise<FreedRound>;

interface Measurement {
  readonly how: How;
  readonly rounds: number;
  readonly inDatabase: InDatabase;
  readonly note: (text: string) => void;
}

export interface Freed extends Round {
  readonly delaysMs: readonly number[];
  /** What the load came to. */
  readonly load: string;
}

let measurements = 0;

export async function measureFreed({ how, rounds, inDatabase, note }: Measurement): Promise<Freed> {
  const once = async (restMs: number): Promise<FreedRound> => {
    measurements += 1;
    const name = `freed-${measurements}`;
    return await inDatabase(async (database) => await measureOnce(database, how, name, restMs));
  };
  const whole: FreedRound[] = [];
  const half: FreedRound[] = [];
  const highest = (): number => rateOf(whole);
  let driven: Driven | null = null;
  // By turns, so that both are of the same minutes. The first one is to find out what a turn takes beside its handler.
  for (let round = 0; round <= rounds; round += 1) {
    note(`  ${how}, ${round === 0 ? "to find the pace" : `${round} of ${rounds}`}`);
    whole.push(await once(0));
    const restMs = restForHalf(RESOURCES, highest(), driven ?? { restMs: 0, perSecond: highest() });
    const seen = await once(restMs);
    driven = { restMs, perSecond: seen.perSecond };
    half.push(seen);
  }
  const counted = half.slice(1);
  const faults = faultsOf(whole, half);
  for (const fault of faults) note(`  void: ${fault}`);
  return {
    delaysMs: counted.flatMap(({ delaysMs }) => delaysMs),
    load: loadText(rateOf(counted) / highest(), highest()),
    faults,
  };
}

function rateOf(rounds: readonly FreedRound[]): number {
  return median(rounds.map(({ perSecond }) => perSecond));
}

export function freedFigure(scenario: string, { delaysMs, load, faults }: Freed): Figure {
  return {
    scenario,
    contestant: signalbox.name,
    unit: "ms",
    value: percentile(delaysMs, 99),
    ratio: null,
    bar: { atMost: 50 },
    notes: [`${load}; p50 ${percentile(delaysMs, 50).toFixed(1)} ms of ${delaysMs.length}`],
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
  const since = await databaseNow(database);
  await signalbox.enqueueLoad?.(database.url, { tasks, ...limits });
  const request = { contestant: "signalbox", database, tasks: TASKS, restMs } as const;
  const { faults } = await measureWork({ ...request, concurrency: CONCURRENCY, processes: 1 });
  const stays = `
    WITH stay AS (
      SELECT t.claimed_at, t.available_at, lag(t.finished_at) OVER (PARTITION BY k.resources ORDER BY k.version) AS freed_at
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
  const delays = await database.query<{ ms: number }>(
    `${stays} SELECT (extract(epoch FROM available_at - freed_at) * 1000)::float8 AS ms
       FROM stay, busy WHERE freed_at >= from_at AND available_at <= to_at`,
    [since],
  );
  return {
    perSecond: (TASKS * (TO - FROM) * 1_000) / (busy?.ms ?? Number.NaN),
    delaysMs: delays.map(({ ms }) => ms),
    faults: [...faults, ...(await gateFaults(database, limits, since))],
  };
}
