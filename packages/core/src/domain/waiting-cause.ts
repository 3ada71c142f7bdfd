/**
 * Why a task run waits: one case per gate, each naming what blocks it. The code is on the wire, in the
 * table (`waiting.blocked_on`) and on the screen.
 */

import type { RunId, TaskId, TaskRunId } from "./ids.ts";
import type { ResourceMode, ResourceName } from "./resource.ts";
import type { LimitScope, PauseScope, QueueName, WindowScope } from "./scope.ts";
import type { Version } from "./version.ts";

/** Why a task run is PENDING. Each case names what blocks it. */
export type WaitingCause =
  | { readonly code: "RUN_AT"; readonly runAt: Date }
  | {
      readonly code: "STOPPED";
      readonly taskId: TaskId;
      /** What the package that put the stop calls it: "APPROVAL", "STAGE_ORDER". */
      readonly stop: string;
      readonly detail: string | null;
      readonly since: Date;
    }
  | {
      readonly code: "PAUSED";
      readonly scope: PauseScope;
      readonly since: Date;
      readonly by: string | null;
      readonly reason: string | null;
    }
  | { readonly code: "NO_EXECUTOR"; readonly kind: string }
  | {
      readonly code: "WINDOW";
      readonly scope: WindowScope;
      readonly window: "maintenance" | "freeze";
      /** Null: not within the time that was looked ahead. */
      readonly opensAt: Date | null;
    }
  | {
      readonly code: "OUT_OF_ORDER";
      readonly resource: ResourceName;
      readonly version: Version;
      /** The largest version that is DONE there. */
      readonly doneVersion: Version;
    }
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
      readonly code: "QUEUE_LIMIT";
      readonly queue: QueueName;
      readonly limit: number;
      readonly active: number;
    }
  | {
      readonly code: "KEY_LIMIT";
      readonly concurrencyKey: string;
      readonly limit: number;
      readonly active: number;
    }
  | {
      readonly code: "RATE_LIMIT";
      readonly rate: string;
      readonly amount: number;
      readonly perMs: number;
      /** When the next slot is free; null: somebody has taken it and not started yet. */
      readonly freeAt: Date | null;
    }
  | {
      readonly code: "FAIR_SHARE";
      readonly runId: RunId;
      readonly share: number;
      readonly available: number;
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
    }
  /** No gate closes it now, and no pass has begun since it came, was due or was woken. */
  | { readonly code: "NOT_EVALUATED"; readonly since: Date };

/** The gates by name. */
export type WaitingCode = WaitingCause["code"];
/** A code that a gate can answer. */
export type GateCode = Exclude<WaitingCode, "NOT_EVALUATED">;

/** Where a waiting task run is parked: what opens this gate wakes this key. */
export interface Parking {
  readonly blockedOn: WaitingCode;
  readonly blockedKey: string;
}

export function parkingOf(cause: WaitingCause): Parking {
  const keyOf: (cause: never) => string = KEY_OF[cause.code];
  return { blockedOn: cause.code, blockedKey: keyOf(cause as never) };
}

const KEY_OF: { readonly [Code in WaitingCode]: (cause: Extract<WaitingCause, { code: Code }>) => string } = {
  RUN_AT: () => "",
  STOPPED: ({ taskId }) => taskId,
  PAUSED: ({ scope }) => scope,
  NO_EXECUTOR: ({ kind }) => kind,
  WINDOW: ({ scope }) => scope,
  OUT_OF_ORDER: ({ resource }) => resource,
  VERSION_ORDER: ({ resource }) => resource,
  RUN_LIMIT: ({ runId }) => runId,
  QUEUE_LIMIT: ({ queue }) => queue,
  KEY_LIMIT: ({ concurrencyKey }) => concurrencyKey,
  FAIR_SHARE: ({ runId }) => runId,
  RATE_LIMIT: ({ rate }) => rate,
  RESOURCE_BUSY: ({ resource }) => resource,
  NOT_EVALUATED: () => "",
};

/** The limit that keeps those parked here; null where they wait for something else. */
export function limitScopeAt({ blockedOn, blockedKey }: Parking): LimitScope | null {
  if (blockedOn === "RUN_LIMIT") return `run:${blockedKey}`;
  if (blockedOn === "QUEUE_LIMIT") return `queue:${blockedKey}`;
  return blockedOn === "KEY_LIMIT" ? `key:${blockedKey}` : null;
}
