/** PgBouncer in transaction mode: everything but LISTEN and migrations goes through it. A short round: test/ha/pooler.ha.test.ts. */

import { it } from "vitest";
import { harmThroughPooler, openPooledTrial } from "../trials/through-pooler.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

it("keeps every promise through PgBouncer in transaction mode", async (test) => {
  const pooled = await openPooledTrial({ seed: longSeed });
  if (pooled === null) return test.skip();

  await conclude(
    "Every promise holds through PgBouncer in transaction mode",
    pooled.rig,
    async () => await harmThroughPooler(pooled, { seed: longSeed, forMs: 120_000 * longPart }),
  );
});
