import type { Count } from "./count.ts";
import type { RulesOn } from "./rules-on.ts";
import type { QueueName } from "./scope.ts";

/** A queue that has rules or open work, and how much of it is where. */
export interface QueueView extends RulesOn {
  readonly queue: QueueName;
  /** 0: unlimited. */
  readonly limit: number;
  readonly weight: number;
  readonly waiting: Count;
  readonly available: Count;
  readonly running: Count;
}

/** As of one moment, by name. */
export interface QueueList {
  readonly computedAt: Date;
  readonly queues: readonly QueueView[];
  /** There are more than these, or there may be: not all that waits was looked at. */
  readonly cut: boolean;
}
