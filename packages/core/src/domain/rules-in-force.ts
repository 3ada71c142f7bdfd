/** The rules that hold at a moment, as callers read them: in the words in which they were given. */

import type { TaskId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";
import type { Pausable, QueueName, Windowed } from "./scope.ts";
import type { WindowKind } from "./window.ts";
import type { WindowSpec } from "./window-spec.ts";

/** Every rule that was put on something and not taken off, as of one moment. The limits of runs are with `getRun`. */
export interface RulesInForce {
  readonly computedAt: Date;
  readonly queues: readonly QueueRule[];
  readonly keyLimits: readonly KeyLimitRule[];
  readonly rates: readonly RateRule[];
  readonly pauses: readonly PauseRule[];
  readonly windows: readonly WindowRule[];
  /** Those of the newest tasks first. */
  readonly stops: readonly StopRule[];
  readonly reservations: readonly Reservation[];
  /** Which of these lists have more than `limit`, and were cut there. */
  readonly cut: readonly RuleList[];
}

/** The name of one of its lists. */
export type RuleList = Exclude<keyof RulesInForce, "computedAt" | "cut">;

/** A queue that has a limit, or a weight other than 1. */
export interface QueueRule {
  readonly queue: QueueName;
  /** 0: unlimited. */
  readonly limit: number;
  readonly weight: number;
  /** When it was changed last, as `since` of the others but of stops; null: nobody remembers. */
  readonly since: Date | null;
}

/** The limit of a concurrency key, or of every key of a group ("customer:*"). A key without one is held by one at a time. */
export interface KeyLimitRule {
  readonly concurrencyKey: string;
  readonly limit: number;
  readonly since: Date | null;
}

/** A rate, and how much of it is left. */
export interface RateRule {
  readonly rate: string;
  readonly amount: number;
  readonly perMs: number;
  /** How many may start now; who is AVAILABLE has taken one already. Null: not counted, the rates before it have too many slots. */
  readonly free: number | null;
  readonly since: Date | null;
}

/** What starts nothing at the moment. */
export interface PauseRule {
  /** As it can be given to `resume`. */
  readonly what: Pausable;
  readonly by: string | null;
  readonly reason: string | null;
  readonly since: Date;
}

/** The windows of a queue or a resource, and whether work may start there now. */
export interface WindowRule {
  readonly what: Windowed;
  /** As they can be given to `setWindows`, which replaces all of them. */
  readonly windows: readonly WindowSpec[];
  readonly now:
    | {
        readonly kind: "open";
        /** It does not close before then; null: not in sight. */
        readonly until: Date | null;
      }
    | {
        readonly kind: "closed";
        /** A freeze holds, or no maintenance window does. */
        readonly because: WindowKind;
        /** Null: not in sight. */
        readonly opensAt: Date | null;
      };
  readonly since: Date | null;
}

/** What keeps a task from starting until its code is taken off. */
export interface StopRule {
  readonly taskId: TaskId;
  readonly code: string;
  readonly detail: string | null;
  /** When it was put. Another detail leaves it as it is. */
  readonly since: Date;
}

/**
 * A resource that is kept for a task since its instance or its warden was lost, or since it ignored its signal, until the
 * task ends or `releaseReservation`.
 */
export interface Reservation {
  readonly resource: ResourceName;
  readonly taskId: TaskId;
}
