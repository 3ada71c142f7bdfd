/**
 * Why a task run waits: one case per gate, each naming what blocks it. The code is on the wire, in the
 * table (`waiting.blocked_on`) and on the screen.
 */

import type { RunId, TaskId, TaskRunId } from "./ids.ts";
import type { ResourceMode, ResourceName } from "./resource.ts";
import type { Version } from "./version.ts";

export type WaitingCause =
  | { readonly code: "RUN_AT"; readonly runAt: Date }
  | {
      readonly code: "VERSION_ORDER";
      readonly resource: ResourceName;
      readonly version: Version;
      readonly blocker: TaskRunId;
      readonly blockerVersion: Version;
    }
  | {
      readonly code: "RUN_LIMIT";
      readonly runId: RunId;
      readonly limit: number;
      readonly active: number;
    }
  | {
      readonly code: "RESOURCE_BUSY";
      readonly resource: ResourceName;
      readonly mode: ResourceMode;
      /** `held`: in use. `reserved`: kept for a task whose instance was lost. `line`: free, but others come first. */
      readonly because: "held" | "reserved" | "line";
      /** The task runs that hold it or come first; at most a few are named. Empty when it is reserved. */
      readonly blockers: readonly TaskRunId[];
      readonly reservedFor: TaskId | null;
    };

export type WaitingCode = WaitingCause["code"];

/** Where a waiting task run is parked: what opens this gate wakes this key. */
export interface Parking {
  readonly blockedOn: WaitingCode;
  readonly blockedKey: string;
}

export function parkingOf(cause: WaitingCause): Parking {
  switch (cause.code) {
    case "RUN_AT":
      return { blockedOn: "RUN_AT", blockedKey: "" };
    case "VERSION_ORDER":
      return { blockedOn: "VERSION_ORDER", blockedKey: cause.resource };
    case "RUN_LIMIT":
      return { blockedOn: "RUN_LIMIT", blockedKey: cause.runId };
    case "RESOURCE_BUSY":
      return { blockedOn: "RESOURCE_BUSY", blockedKey: cause.resource };
  }
}
