/** What a rule is put on, as one text: the same in `hold.scope`, in a waiting cause and on the screen. */

import type { RunId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";

/** Any name; a queue needs no setting up. */
export type QueueName = string;

/** Where a limit counts. A resource has no limit: it is held alone or shared. */
export type LimitScope = `run:${string}` | `queue:${string}` | `key:${string}`;
/** What can have windows, as callers name it. */
export type Windowed = { readonly queue: QueueName } | { readonly resource: ResourceName };
/** What can be paused, as callers name it. */
export type Pausable = Windowed | { readonly runId: RunId };

/** What can be paused. */
export type PauseScope = `queue:${string}` | `run:${string}` | `resource:${string}`;
/** What can have windows. */
export type WindowScope = `queue:${string}` | `resource:${string}`;

export const runScope = (runId: RunId): `run:${string}` => `run:${runId}`;
export const queueScope = (name: QueueName): `queue:${string}` => `queue:${name}`;
export const keyScope = (concurrencyKey: string): `key:${string}` => `key:${concurrencyKey}`;
export const resourceScope = (name: ResourceName): `resource:${string}` => `resource:${name}`;

export function partsOf<Scope extends LimitScope | PauseScope | WindowScope>(
  scope: Scope,
): { readonly over: Scope extends `${infer Over}:${string}` ? Over : never; readonly name: string } {
  const at = scope.indexOf(":");
  return { over: scope.slice(0, at) as never, name: scope.slice(at + 1) };
}
