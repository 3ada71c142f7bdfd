/** How long `explain` takes to answer, of those that wait, chosen at random. */

import { createScheduler } from "../../packages/core/dist/index.js";
import type { Round } from "./bench.ts";
import { signalbox } from "./contestants/signalbox.ts";
import type { Database } from "./database.ts";
import type { Figure } from "./figure.ts";
import { percentile } from "./statistics.ts";

const ASKED = 500;
/** So that connections are open and statements prepared. */
const WARM_UP = 20;

export interface Asked extends Round {
  readonly tookMs: readonly number[];
}

export async function askWhy(database: Database): Promise<Asked> {
  const scheduler = createScheduler({ databaseUrl: database.url });
  const rows = await database.query<{ id: string }>(
    `SELECT task_run_id AS id FROM signalbox.waiting ORDER BY random() LIMIT ${ASKED + WARM_UP}`,
  );
  const tookMs: number[] = [];
  let unexplained = 0;
  for (const { id } of rows) {
    const fromMs = performance.now();
    const { gates } = await scheduler.explain(id);
    tookMs.push(performance.now() - fromMs);
    if (!gates.some(({ state }) => state === "blocking")) unexplained += 1;
  }
  await scheduler.stop();
  return {
    tookMs: tookMs.slice(WARM_UP),
    faults: [
      ...(rows.length === ASKED + WARM_UP ? [] : [`only ${rows.length} wait that could be asked about`]),
      ...(unexplained === 0 ? [] : [`${unexplained} wait without a cause`]),
    ],
  };
}

export function explainFigure(scenario: string, rounds: readonly Asked[]): Figure {
  const tookMs = rounds.flatMap((round) => round.tookMs);
  return {
    scenario,
    contestant: signalbox.name,
    unit: "ms",
    value: percentile(tookMs, 99),
    ratio: null,
    bar: { below: 5 },
    notes: [`p50 ${percentile(tookMs, 50).toFixed(1)} ms of ${tookMs.length}`],
    faults: [...new Set(rounds.flatMap(({ faults }) => faults))],
  };
}
