/** How long a freed resource stands idle while somebody waits for it, on a database that is new. */

import type { Scenario } from "../bench.ts";
import { freedFigure, HOW, type How, measureFreed } from "../measure-freed.ts";

const ROUNDS = 2;

export const freed: Scenario = async (bench) => {
  const figures = [];
  for (const how of Object.keys(HOW) as How[]) {
    const measured = await measureFreed({ ...bench, rounds: bench.full ? bench.rounds : ROUNDS }, how);
    figures.push(freedFigure(how, "", measured));
  }
  return figures;
};
