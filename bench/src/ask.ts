/** The process that asks why: whoever enqueues or works does so elsewhere, and keeps no answer waiting. */

import { setTimeout as wait } from "node:timers/promises";
import { createScheduler } from "../../packages/core/dist/index.js";
import type { AskOrder, FromAsker } from "./ask-why.ts";

/** By the second message it is told that it was enough. */
let isEnough = false;

process.once("message", (order: AskOrder) => {
  process.once("message", () => {
    isEnough = true;
  });
  void ask(order).then((answer) => process.send?.(answer, () => process.disconnect()));
});

async function ask({ url, taskRunIds, restMs }: AskOrder): Promise<FromAsker> {
  const scheduler = createScheduler({ databaseUrl: url });
  const tookMs: number[] = [];
  let unexplained = 0;
  for (const id of taskRunIds) {
    if (isEnough) break;
    const fromMs = performance.now();
    const { gates } = await scheduler.explain(id);
    tookMs.push(performance.now() - fromMs);
    if (!gates.some(({ state }) => state === "blocking")) unexplained += 1;
    if (restMs > 0) await wait(restMs);
  }
  await scheduler.stop();
  return { tookMs, unexplained };
}

// Whoever started it is gone, or has its answer.
process.once("disconnect", () => process.exit());
