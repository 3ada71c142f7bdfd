/** PgBouncer in transaction mode, in a short round. Longer: test/long/pooler.long.test.ts. */

import { it } from "vitest";
import { endRound, shortSeed } from "../trials/short-round.ts";
import { harmThroughPooler, openPooledTrial } from "../trials/through-pooler.ts";

it("keeps every promise through PgBouncer in transaction mode", async (test) => {
  const pooled = await openPooledTrial({ seed: shortSeed });
  if (pooled === null) return test.skip();

  const shown = await harmThroughPooler(pooled, { seed: shortSeed, forMs: 0 });
  await endRound("PgBouncer", pooled.rig, [shown]);
});
