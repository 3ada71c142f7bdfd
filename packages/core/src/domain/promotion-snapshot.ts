/** What a promotion pass reads before it decides: the candidates, and all their gates look at. */

import type { Candidate, ResourceView, RunView } from "./gates/gate.ts";
import type { RunId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";

export interface ResourceSnapshot extends ResourceView {
  /** The first slot number no sharer uses; slot 0 is the exclusive one. */
  readonly nextSharedSlot: number;
}

export interface RunSnapshot extends RunView {
  /** Unused slots below the limit, lowest first; enough for the candidates. */
  readonly freeSlots: readonly number[];
}

export interface PromotionSnapshot {
  readonly now: Date;
  readonly candidates: readonly Candidate[];
  readonly resources: ReadonlyMap<ResourceName, ResourceSnapshot>;
  readonly runs: ReadonlyMap<RunId, RunSnapshot>;
}
