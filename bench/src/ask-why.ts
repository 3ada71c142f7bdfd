/** How long `explain` takes to answer, of those that wait, chosen at random. */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Round } from "./bench.ts";
import { signalbox } from "./contestants/signalbox.ts";
import type { Database } from "./database.ts";
import type { Figure } from "./figure.ts";
import { KEPT } from "./keeper.ts";
import { percentile } from "./statistics.ts";

const ASK = fileURLToPath(new URL("./ask.ts", import.meta.url));
const ASKED = 500;
/** So that connections are open and statements prepared. */
const WARM_UP = 20;
/** Fewer have no p99. */
const ENOUGH = 200;
const REST_MS = 20;

export interface AskOrder {
  readonly url: string;
  readonly taskRunIds: readonly string[];
  /** Between two of them. */
  readonly restMs: number;
}

export interface FromAsker {
  readonly tookMs: readonly number[];
  readonly unexplained: number;
}

export interface Asked extends Round {
  readonly tookMs: readonly number[];
}

/** One after the other. */
export async function askWhy(database: Database): Promise<Asked> {
  return toAsked((await openAsker(database, 0)).answered, NOTHING);
}

/** With rests between them, until the work is done. */
export async function askWhile(database: Database, work: () => Promise<Round>): Promise<Asked> {
  const asker = await openAsker(database, REST_MS);
  const worked = await work().finally(asker.stop);
  return toAsked(asker.answered, worked);
}

const NOTHING: Round = { faults: [] };

interface Asker {
  readonly answered: Promise<FromAsker>;
  readonly stop: () => void;
}

/** Only of those that the keeper holds back: they wait for as long as it is there. */
async function openAsker(database: Database, restMs: number): Promise<Asker> {
  const rows = await database.query<{ id: string }>(
    `SELECT task_run_id AS id FROM signalbox.waiting WHERE kind = '${KEPT}' ORDER BY random() LIMIT ${WARM_UP + ASKED}`,
  );
  const order: AskOrder = { url: database.url, taskRunIds: rows.map(({ id }) => id), restMs };
  // Too long for the arguments of a process.
  const child = fork(ASK, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const answered = new Promise<FromAsker>((resolve, reject) => {
    child.once("message", (answer: FromAsker) => resolve(answer));
    child.once("close", (code) => reject(new Error(`Who asks why ended with ${code}`)));
  });
  // Whoever waits for the answers hears of it; while the work is still under way nobody does.
  answered.catch(() => {});
  child.send(order);
  return { answered, stop: () => void child.send("stop", () => {}) };
}

async function toAsked(answered: Promise<FromAsker>, { faults }: Round): Promise<Asked> {
  const { tookMs: all, unexplained } = await answered;
  const tookMs = all.slice(WARM_UP);
  return {
    tookMs,
    faults: [
      ...faults,
      ...(tookMs.length < ENOUGH ? [`only ${tookMs.length} were asked about`] : []),
      ...(unexplained === 0 ? [] : [`${unexplained} wait without a cause`]),
    ],
  };
}

export function explainFigure(scenario: string, { tookMs, faults }: Asked): Figure {
  return {
    scenario,
    contestant: signalbox.name,
    unit: "ms",
    value: percentile(tookMs, 99),
    ratio: null,
    bar: { below: 5 },
    notes: [`p50 ${percentile(tookMs, 50).toFixed(1)} ms of ${tookMs.length}`],
    faults,
  };
}
