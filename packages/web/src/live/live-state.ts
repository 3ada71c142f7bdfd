/** How fresh the page is, for the pill and the banner. */

import type { Problem } from "@signalbox/contract";
import { useSyncExternalStore } from "react";
import type { StreamState } from "./messages.ts";

export interface LiveState {
  readonly stream: StreamState;
  readonly paused: boolean;
  /** By this machine's clock: when an answer came last, and since when none comes. */
  readonly answeredAt: number | null;
  readonly unreachableSince: number | null;
  readonly serverId: string | null;
  /** The server wants a token first. */
  readonly locked: boolean;
  /** What the server says it cannot read now. */
  readonly trouble: Problem | null;
}

export type Freshness = "live" | "paused" | "polling" | "offline";

const listeners = new Set<() => void>();
let current: LiveState = {
  stream: "connecting",
  paused: false,
  answeredAt: null,
  unreachableSince: null,
  serverId: null,
  locked: false,
  trouble: null,
};

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

export function setLiveState(change: Partial<LiveState>): void {
  const since = current.unreachableSince;
  // It is offline since the first answer that did not come.
  const kept = change.unreachableSince != null && since !== null ? { unreachableSince: since } : {};
  current = { ...current, ...change, ...kept };
  for (const listener of listeners) listener();
}

export function freshnessOf({ paused, stream, unreachableSince }: LiveState): Freshness {
  if (paused) return "paused";
  if (stream === "live") return "live";
  return unreachableSince === null ? "polling" : "offline";
}
