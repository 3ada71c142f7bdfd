/** How many things need a person, by the page that shows them. Pure. Never a plain total: that would be there always. */

import type { Overview } from "@signalbox/contract";
import { stateOf } from "../features/cluster/state-of.ts";

export type AttentionPlace = "/tasks" | "/cluster";

/** `failed`: how many have failed for good. */
export function attentionOf(
  overview: Overview,
  failed: number,
  now: number,
): Readonly<Record<AttentionPlace, number>> {
  const readAt = Date.parse(overview.computedAt);
  return {
    // Tried by nothing again, or nobody there can do it: nothing but a person will change that.
    "/tasks": failed + (overview.waiting.NO_EXECUTOR ?? 0),
    "/cluster": overview.instances.filter((instance) => stateOf(instance, readAt, now) === "late").length,
  };
}
