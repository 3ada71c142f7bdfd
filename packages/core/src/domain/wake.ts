/**
 * A wake says which gate may have opened. It is written in the transaction that opened it, so that a
 * promotion pass looks only at what was parked there and never at the whole backlog.
 */

import { asRunId, type RunId } from "./ids.ts";
import type { ResourceName } from "./resource.ts";

export type WakeKey = `resource:${string}` | `version:${string}` | `run:${string}`;

export function wakeResource(name: ResourceName): WakeKey {
  return `resource:${name}`;
}

export function wakeVersion(name: ResourceName): WakeKey {
  return `version:${name}`;
}

export function wakeRun(runId: RunId): WakeKey {
  return `run:${runId}`;
}

export interface WokenGates {
  readonly resources: readonly ResourceName[];
  readonly versions: readonly ResourceName[];
  readonly runs: readonly RunId[];
}

export function sortWakes(keys: Iterable<string>): WokenGates {
  const resources: string[] = [];
  const versions: string[] = [];
  const runs: RunId[] = [];
  for (const key of new Set(keys)) {
    const name = key.slice(key.indexOf(":") + 1);
    if (key.startsWith("resource:")) resources.push(name);
    else if (key.startsWith("version:")) versions.push(name);
    else if (key.startsWith("run:")) runs.push(asRunId(name));
  }
  return { resources, versions, runs };
}
