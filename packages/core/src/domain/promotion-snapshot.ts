/** What a promotion pass reads before it decides: the candidates, and all their gates look at. */

import type {
  Candidate,
  LimitView,
  PauseView,
  RateView,
  ResourceView,
  StopView,
  WindowView,
} from "./gates/gate.ts";
import type { RunId, TaskId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";
import type { LimitScope, PauseScope, WindowScope } from "./scope.ts";

export interface ResourceSnapshot extends ResourceView {
  /** The first slot number no sharer uses; slot 0 is the exclusive one. */
  readonly nextSharedSlot: number;
}

export interface LimitSnapshot extends LimitView {
  /** Unused slots below the limit, enough for the candidates or as many as there is room for. */
  readonly freeSlots: readonly number[];
}

export interface RateSnapshot extends Omit<RateView, "free"> {
  /** Slots of which the last start is a period ago, or whose taker never started. */
  readonly freeSlots: readonly number[];
}

export interface PromotionSnapshot {
  readonly now: Date;
  readonly candidates: readonly Candidate[];
  readonly resources: ReadonlyMap<ResourceName, ResourceSnapshot>;
  /** Runs and keys always; a queue only where it has a limit. */
  readonly limits: ReadonlyMap<LimitScope, LimitSnapshot>;
  readonly available: ReadonlyMap<RunId, number>;
  readonly fairShare: number;
  readonly rates: ReadonlyMap<string, RateSnapshot>;
  readonly pauses: ReadonlyMap<PauseScope, PauseView>;
  readonly stops: ReadonlyMap<TaskId, readonly StopView[]>;
  readonly windows: ReadonlyMap<WindowScope, WindowView>;
  readonly servedKinds: ReadonlySet<string>;
}
