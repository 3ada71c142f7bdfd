/** What people put on a queue or a resource, as a look at it shows: the same words as in `RulesInForce`. */

import type { WindowRule } from "./rules-in-force.ts";

/** Since when, by whom and why it is paused. */
export interface Pause {
  readonly since: Date;
  readonly by: string | null;
  readonly reason: string | null;
}

/** What a queue or a resource has of them. */
export interface RulesOn {
  /** Null: it is not paused. */
  readonly paused: Pause | null;
  /** As they can be given to `setWindows`; empty: it has none. */
  readonly windows: WindowRule["windows"];
  /** Whether work may start there now, by its windows; without any it is open. */
  readonly now: WindowRule["now"];
}
