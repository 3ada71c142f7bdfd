/** What else must hold while much lies there: a freed resource is handed on, and what waits can say why. */

import { type Asked, askWhile, askWhy, explainFigure } from "./ask-why.ts";
import type { Bench } from "./bench.ts";
import type { Database } from "./database.ts";
import type { Figure } from "./figure.ts";
import { keepBusy } from "./keep-busy.ts";
import { KEPT_LINES, type Keeper, openKeeper } from "./keeper.ts";
import { LONG, PARKED, standFaults } from "./measure-backlog.ts";
import { freedFigure, HOW, type How, measureFreed } from "./measure-freed.ts";

const ROUNDS = 3;
const BUSY = { name: "beside", forMs: 20_000 };

interface Case {
  readonly title: string;
  readonly available: number;
  readonly pending: number;
  readonly lay: (keeper: Keeper) => Promise<void>;
}

const cases: readonly Case[] = [
  {
    title: "beside 500,000 AVAILABLE and 500,000 PENDING",
    available: LONG,
    pending: LONG,
    lay: async ({ makeAvailable, park, lineUp }) => {
      await makeAvailable(LONG);
      await park(LONG / 2);
      // The first of each line is AVAILABLE.
      await lineUp(LONG / 2 + KEPT_LINES);
    },
  },
  {
    title: "beside 100,000 behind one resource",
    available: 0,
    pending: PARKED,
    lay: async ({ park }) => await park(PARKED),
  },
];

/** `when` ends the name of each figure, as in ", after ten minutes of load". */
export async function measureBeside(bench: Bench, when: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { title, lay, ...stands } of cases) {
    bench.note(`  ${title}`);
    figures.push(
      ...(await bench.inDatabase("signalbox", async (database) => {
        const keeper = await openKeeper(database);
        try {
          await lay(keeper);
          await database.query("VACUUM ANALYZE");
          const before = await standFaults(stands, database);
          const measured = await measureAll(bench, database, `${title}${when}`);
          const faults = [...before, ...(await standFaults(stands, database))];
          return measured.map((figure) => ({ ...figure, faults: [...faults, ...figure.faults] }));
        } finally {
          await keeper.stop();
        }
      })),
    );
  }
  return figures;
}

/** All on the same database: what lies there takes longer to make than what is measured. */
async function measureAll(bench: Bench, database: Database, where: string): Promise<readonly Figure[]> {
  const here: Bench = { ...bench, rounds: ROUNDS, inDatabase: async (_, use) => await use(database) };
  const quiet: Asked = await askWhy(database);
  const busy: Asked = await askWhile(database, async () => await keepBusy(database, BUSY));
  const freed: Figure[] = [];
  for (const how of Object.keys(HOW) as How[])
    freed.push(freedFigure(how, where, await measureFreed(here, how)));
  return [
    ...freed,
    explainFigure(`explain ${where}, p99`, quiet),
    explainFigure(`explain ${where} and 6,000 a second, p99`, busy),
  ];
}
