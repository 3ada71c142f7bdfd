import type { Count } from "./count.ts";
import type { Blocker } from "./explanation.ts";
import type { TaskId } from "./ids.ts";
import type { ResourceMode, ResourceName } from "./resource.ts";
import type { RulesOn } from "./rules-on.ts";
import type { Version } from "./version.ts";

/** Who has a resource; `since` is when it was given to it. */
export interface Holder extends Blocker {
  readonly mode: ResourceMode;
}

/** Who waits for a resource and for nothing else; `since` is when it came to wait there. */
export interface InLine extends Blocker {
  readonly mode: ResourceMode;
  /** 1 is next. */
  readonly position: number;
  readonly version: Version | null;
}

/** A resource that somebody has or had, waits for, or has put a rule on. */
export interface ResourceView extends RulesOn {
  readonly resource: ResourceName;
  /** The first five. */
  readonly holders: readonly Holder[];
  readonly holderCount: number;
  readonly inLine: Count;
  /** The task for which it is kept since its instance or its warden was lost; null: for none. */
  readonly reservedFor: TaskId | null;
}

/** With more of its holders, and its line. */
export interface ResourceDetail extends ResourceView {
  readonly computedAt: Date;
  /** The first hundred. */
  readonly holders: readonly Holder[];
  /** The first hundred. */
  readonly line: readonly InLine[];
}

/** Which resources `listResources` answers; all that is given must hold. */
export interface ResourceFilter {
  /** How its name begins. */
  readonly search?: string;
  /** From 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: ResourceName;
}

/** One page of `listResources`, by name. */
export interface ResourcePage {
  readonly computedAt: Date;
  readonly resources: readonly ResourceView[];
  /** Give it as `after` to get the next page; null on the last one. */
  readonly next: ResourceName | null;
}
