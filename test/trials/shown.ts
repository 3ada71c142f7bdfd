/** What a trial has done and seen. A path of it that was never taken fails it: `requireTaken`. */

import type { Sometimes } from "../ha/sometimes.ts";

export interface Shown {
  /** How often each fault was done. */
  readonly faults: Sometimes;
  /** How often each path was taken that the faults are there for. */
  readonly paths: Sometimes;
  /** What else is worth knowing, a line each. */
  readonly notes?: readonly string[];
}
