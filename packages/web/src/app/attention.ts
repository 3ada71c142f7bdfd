/** How many things need a person, by the page that shows them. Pure. Never a plain total: that would be there always. */

import type { Overview } from "@signalbox/contract";
import { stateOf } from "../features/cluster/state-of.ts";

export type AttentionPlace = "/tasks" | "/cluster";

export function attentionOf(overview: Overview, now: number): Readonly<Record<AttentionPlace, number>> {
  const readAt = Date.parse(overview.computedAt);
  return {
    // Nobody there can do it, and nothing but a person will change that.
    "/tasks": overview.waiting.NO_EXECUTOR ?? 0,
    "/cluster": overview.instances.filter((instance) => stateOf(instance, readAt, now) === "late").length,
  };
}
