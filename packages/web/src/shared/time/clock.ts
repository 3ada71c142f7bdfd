/** One second hand for the whole page, set by the server's clock. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let offsetMs = 0;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** The instant by the server's clock, renewed every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function serverNow(): number {
  return Date.now() + offsetMs;
}

export function clockOffsetMs(): number {
  return offsetMs;
}

/** Takes the server's clock from an answer that has just come. */
export function setServerTime(serverTime: string): void {
  const at = Date.parse(serverTime);
  if (Number.isNaN(at)) return;
  const next = at - Date.now();
  // What the way took is noise: a clock that jumps to and fro would be worse.
  if (Math.abs(next - offsetMs) > 500) offsetMs = next;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = serverNow();
  for (const listener of listeners) listener();
}
