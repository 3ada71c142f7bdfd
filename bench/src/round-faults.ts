/** Why a round does not count: tasks that were lost, ran twice, were not recorded as ended, or more at once than slots. */

import { setTimeout as wait } from "node:timers/promises";
import { type Calls, callFaults } from "./call-faults.ts";
import type { Load } from "./contestants/contestant.ts";
import { CONTESTANTS, type ContestantKey } from "./contestants/index.ts";
import type { Database } from "./database.ts";
import { seenFaults } from "./seen-faults.ts";
import { stayFaults } from "./stay-faults.ts";
import type { WorkReport } from "./worker-messages.ts";

/** How long after the last call everything must be recorded. */
const RECORDED_WITHIN_MS = 5_000;

/** While the workers still run: how many are not recorded as ended, once they had the time to be. */
export async function leftOver(database: Database, contestant: ContestantKey): Promise<readonly string[]> {
  const untilMs = performance.now() + RECORDED_WITHIN_MS;
  for (;;) {
    const [row] = await database.query<{ left: string }>(CONTESTANTS[contestant].leftSql);
    const left = Number(row?.left);
    if (left === 0) return [];
    if (performance.now() > untilMs) return [`${left} are not recorded as ended`];
    await wait(20);
  }
}

export interface EndedRound {
  readonly contestant: ContestantKey;
  readonly database: Database;
  /** Of all its processes, which have ended. */
  readonly reports: readonly WorkReport[];
  readonly tasks: number;
  /** With its gates, where it has some. */
  readonly load: Load | null;
  /** Whether all of them were to run, or only as many as were timed. */
  readonly all: boolean;
  readonly slots: number;
  /** When it began, by the database's clock. */
  readonly since: string;
}

export async function roundFaults(round: EndedRound): Promise<readonly string[]> {
  const { contestant, database, reports, tasks, load, all, slots, since } = round;
  const calls = reports.reduce((sum, report) => sum + report.calls, 0);
  return [
    ...seenFaults(
      reports.map(({ seen }) => Buffer.from(seen, "base64")),
      tasks,
      all,
    ),
    ...reports.flatMap((report) => [...report.faults, ...callFaults(callsOf(report), { slots, load })]),
    ...(CONTESTANTS[contestant].keepsStays === true
      ? await stayFaults(database, { slots, since, calls })
      : []),
  ];
}

function callsOf({ began, ended }: WorkReport): Calls {
  return { began: positionsOf(began), ended: positionsOf(ended) };
}

function positionsOf(text: string): Int32Array {
  // A Buffer lies somewhere in a larger one, which need not be where a number may begin.
  return new Int32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
}
