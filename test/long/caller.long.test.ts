/** A caller enqueues in its own transaction and leaves it open for ten minutes. A short round: test/ha/hindrance.ha.test.ts. */

import { it } from "vitest";
import { leaveTransactionOpen } from "../trials/leave-transaction-open.ts";
import { openTrial } from "../trials/open-trial.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

const OPEN_MS = Math.max(20_000, 600_000 * longPart);

it("sees what a caller enqueued when its transaction commits at last, and does not wait for it before", async () => {
  const rig = await openTrial({ seed: longSeed });
  await conclude(
    "A caller's transaction that is left open holds nobody up",
    rig,
    async () => await leaveTransactionOpen(rig, { openMs: OPEN_MS, slices: 10 }),
  );
});
