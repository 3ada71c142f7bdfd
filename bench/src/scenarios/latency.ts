/** From the call that enqueues to the start of the handler, on a worker that has nothing else to do. */

import { setTimeout as wait } from "node:timers/promises";
import { inTurn, type Scenario } from "../bench.ts";
import { CONTESTANTS, type ContestantKey } from "../contestants/index.ts";
import type { Figure } from "../figure.ts";
import { percentile } from "../statistics.ts";
import { openWorker } from "../worker-process.ts";

const TASKS = 400;
const PAUSE_MS = 20;
const WARM_UP = 50;

/** Enqueued by one process and run by another, as with a web server and its worker. */
export const idleLatency: Scenario = async (bench) => {
  const contestants = [
    "signalbox",
    "graphileBatched",
    "graphilePlain",
  ] as const satisfies readonly ContestantKey[];
  const results = await inTurn(bench, contestants, async (contestant, database) => {
    const order = { contestant, url: database.url, concurrency: 10, tasks: TASKS, tellsEach: true };
    const startedAtMs = new Map<number, number>();
    const worker = await openWorker(order, {
      onCalls: () => {},
      onEach: (n, atMs) => void startedAtMs.set(n, atMs),
    });
    worker.start();
    const enqueuer = await CONTESTANTS[contestant].openEnqueuer(database.url);
    await wait(1_000);
    const latencies: number[] = [];
    const calledAtMs: number[] = [];
    for (let n = 0; n < TASKS; n += 1) {
      calledAtMs.push(Number(process.hrtime.bigint()) / 1e6);
      await enqueuer.addOne({ n });
      await wait(PAUSE_MS);
    }
    for (let tries = 0; startedAtMs.size < TASKS && tries < 100; tries += 1) await wait(100);
    for (const [n, calledMs] of calledAtMs.entries()) {
      const startedMs = startedAtMs.get(n);
      if (startedMs !== undefined && n >= WARM_UP) latencies.push(startedMs - calledMs);
    }
    await enqueuer.close();
    await worker.end();
    return { latencies, faults: startedAtMs.size === TASKS ? [] : [`only ${startedAtMs.size} started`] };
  });
  const at = (key: (typeof contestants)[number], share: number): number =>
    percentile(
      (results.get(key) ?? []).flatMap(({ latencies }) => latencies),
      share,
    );
  return [50, 99].flatMap((share) =>
    contestants.map(
      (key): Figure => ({
        scenario: `idle latency, p${share}`,
        contestant: CONTESTANTS[key].name,
        unit: "ms",
        value: at(key, share),
        ratio: { to: CONTESTANTS.graphilePlain.name, value: at(key, share) / at("graphilePlain", share) },
        bar: key === "signalbox" ? { atMost: share === 50 ? 1.0 : 1.2 } : null,
        notes: [],
        faults: (results.get(key) ?? []).flatMap(({ faults }) => faults),
      }),
    ),
  );
};
