/**
 * A wake says which gate may have opened. It is written in the transaction that opened it, so that a
 * promotion pass looks only at what was parked there and never at the whole backlog.
 */

import type { RunId, TaskId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";
import type { PauseScope, QueueName, WindowScope } from "./scope.ts";
import type { GateCode, Parking } from "./waiting-cause.ts";

/** What can be woken, and the gates that look at it. */
const GATES_OF = {
  resource: ["RESOURCE_BUSY"],
  version: ["VERSION_ORDER"],
  run: ["RUN_LIMIT", "FAIR_SHARE"],
  queue: ["QUEUE_LIMIT"],
  key: ["KEY_LIMIT"],
  rate: ["RATE_LIMIT"],
  pause: ["PAUSED"],
  window: ["WINDOW"],
  executor: ["NO_EXECUTOR"],
  stop: ["STOPPED"],
} as const satisfies Record<string, readonly GateCode[]>;

type WakeWord = keyof typeof GATES_OF;
export type WakeKey = `${WakeWord}:${string}`;

export const wakeResource = (name: ResourceName): WakeKey => `resource:${name}`;
export const wakeVersion = (name: ResourceName): WakeKey => `version:${name}`;
export const wakeRun = (runId: RunId): WakeKey => `run:${runId}`;
export const wakeQueue = (name: QueueName): WakeKey => `queue:${name}`;
export const wakeConcurrencyKey = (concurrencyKey: string): WakeKey => `key:${concurrencyKey}`;
export const wakeRate = (name: string): WakeKey => `rate:${name}`;
export const wakePaused = (scope: PauseScope): WakeKey => `pause:${scope}`;
export const wakeWindow = (scope: WindowScope): WakeKey => `window:${scope}`;
export const wakeExecutor = (kind: string): WakeKey => `executor:${kind}`;
export const wakeStop = (taskId: TaskId): WakeKey => `stop:${taskId}`;

/**
 * Of what was given back by one that has not ended: its version is open still, but who came while it was handed the resource waits
 * for the version of the one before it, whose end has woken nobody.
 */
export function alsoByVersion(freed: readonly WakeKey[]): readonly WakeKey[] {
  return freed.flatMap((key) =>
    key.startsWith("resource:") ? [key, wakeVersion(key.slice("resource:".length))] : [key],
  );
}

/** Where those are parked whom these wakes may let go. What no gate of ours looks at is left out. */
export function parkingsOf(keys: Iterable<string>): readonly Parking[] {
  return [...new Set(keys)].flatMap((key) => {
    const at = key.indexOf(":");
    const word = key.slice(0, at);
    if (!isWakeWord(word)) return [];
    return GATES_OF[word].map((blockedOn) => ({ blockedOn, blockedKey: key.slice(at + 1) }));
  });
}

/** What must be woken for those parked here to be looked at. Null: time alone wakes them. */
export function wakeOf({ blockedOn, blockedKey }: Parking): WakeKey | null {
  for (const [word, gates] of Object.entries(GATES_OF)) {
    if (isWakeWord(word) && gates.some((gate) => gate === blockedOn)) return `${word}:${blockedKey}`;
  }
  return null;
}

function isWakeWord(word: string): word is WakeWord {
  return Object.hasOwn(GATES_OF, word);
}
