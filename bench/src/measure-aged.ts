/** What else must hold on a database that has seen something: freed resources, `explain`, and many behind one resource. */

import { type Asked, askWhy, explainFigure } from "./ask-why.ts";
import { type Bench, faultsOf } from "./bench.ts";
import { signalbox } from "./contestants/signalbox.ts";
import type { Database } from "./database.ts";
import type { Figure } from "./figure.ts";
import { openKeeper } from "./keeper.ts";
import { freedFigure, HOW, type How, measureFreed } from "./measure-freed.ts";
import type { WorkRound } from "./measure-work.ts";
import { PARKED } from "./scenarios/backlog.ts";
import { linesOn, workOffLoad } from "./scenarios/gates.ts";
import { median } from "./statistics.ts";

const ROUNDS = 3;

/** `when` ends the name of each figure, as in "after ten minutes of load". */
export async function measureAged(
  { note }: Bench,
  database: Database,
  when: string,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const how of Object.keys(HOW) as How[]) {
    const measured = await measureFreed({
      how,
      rounds: ROUNDS,
      inDatabase: async (act) => await act(database),
      note,
    });
    const scenario = `a freed resource until the next is promoted, p99, ${how}, ${when}`;
    figures.push(freedFigure(scenario, measured));
  }
  const { without, beside, asked } = await measureParked(database, note);
  const rate = (rounds: readonly WorkRound[]): number => median(rounds.map(({ perSecond }) => perSecond));
  return [
    ...figures,
    {
      scenario: `100,000 behind one resource, others in lines, ${when}`,
      contestant: signalbox.name,
      unit: "/s",
      value: rate(beside),
      ratio: { to: "without them", value: rate(beside) / rate(without) },
      bar: { atLeast: 0.85 },
      notes: [],
      faults: faultsOf(without, beside),
    },
    explainFigure(`explain beside 100,000 PENDING, p99, ${when}`, asked),
  ];
}

interface Parked {
  readonly without: readonly WorkRound[];
  readonly beside: readonly WorkRound[];
  readonly asked: readonly Asked[];
}

async function measureParked(database: Database, note: Bench["note"]): Promise<Parked> {
  const without: WorkRound[] = [];
  const beside: WorkRound[] = [];
  const asked: Asked[] = [];
  const keeper = await openKeeper(database);
  try {
    // By turns: the database ages on meanwhile.
    for (let round = 1; round <= ROUNDS; round += 1) {
      note(`  lines without and beside many behind one resource, ${round} of ${ROUNDS}`);
      without.push(await workOffLoad(database, linesOn(`without-${round}`)));
      await keeper.park(PARKED);
      beside.push(await workOffLoad(database, linesOn(`beside-${round}`)));
      asked.push(await askWhy(database));
      await keeper.unpark();
    }
    return { without, beside, asked };
  } finally {
    await keeper.stop();
  }
}
