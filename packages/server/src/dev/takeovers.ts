/** Follows what a lost instance ran until somebody else runs it. Pure: time comes with each call. */

import type { InstanceEvent } from "./instance-messages.ts";

type Strike = "kill" | "freeze";

export interface Takeover {
  readonly fromName: string;
  /** What a key did to it, and how long ago; null when nobody here did anything. */
  readonly strike: { readonly how: Strike; readonly agoMs: number } | null;
}

export interface Takeovers {
  readonly struck: (name: string, how: Strike, atMs: number) => void;
  /** What this claim takes over, if anything. Call it with every event, in order. */
  readonly follow: (event: InstanceEvent, atMs: number) => Takeover | null;
}

export function createTakeovers(): Takeovers {
  const strikes = new Map<string, { readonly how: Strike; readonly atMs: number }>();
  const lostBy = new Map<string, string>();
  return {
    struck: (name, how, atMs) => void strikes.set(name, { how, atMs }),
    follow: (event, atMs) => {
      if (event.type === "task_run.rescued" && event.nextTaskRunId !== null) {
        lostBy.set(event.nextTaskRunId, event.fromName);
      }
      const fromName = event.type === "task_run.claimed" ? lostBy.get(event.taskRunId) : undefined;
      if (event.type !== "task_run.claimed" || fromName === undefined) return null;
      lostBy.delete(event.taskRunId);
      const strike = strikes.get(fromName);
      return {
        fromName,
        strike: strike === undefined ? null : { how: strike.how, agoMs: atMs - strike.atMs },
      };
    },
  };
}
