/** How long a freed resource stands idle while somebody waits for it, on a database that is new. */

import type { Scenario } from "../bench.ts";
import { signalbox } from "../contestants/signalbox.ts";
import { freedFigure, HOW, type How, type InDatabase, measureFreed } from "../measure-freed.ts";

export const freed: Scenario = async ({ server, full, note }) => {
  const inDatabase: InDatabase = async (act) => {
    const database = await server.createDatabase();
    try {
      await signalbox.install(database.url);
      return await act(database);
    } finally {
      await database.drop();
    }
  };
  const figures = [];
  for (const how of Object.keys(HOW) as How[]) {
    const measured = await measureFreed({ how, rounds: full ? 5 : 2, inDatabase, note });
    figures.push(freedFigure(`a freed resource until the next is promoted, p99, ${how}`, measured));
  }
  return figures;
};
