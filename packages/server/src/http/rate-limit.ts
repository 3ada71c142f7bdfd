/**
 * How often a client may ask: so many at once, and so many in a second after that. One number for each client, the
 * instant at which it will have everything back; the clients that asked longest ago are forgotten.
 */

import { isIPv6 } from "node:net";

export interface Rate {
  readonly perSecond: number;
  /** How many may come at once. */
  readonly burst: number;
}

export interface RateLimit {
  /** Null: go on. Otherwise it was one too many, and how long to wait, in milliseconds. */
  take(client: string, nowMs: number): number | null;
}

const MOST_CLIENTS = 10_000;

export function createRateLimit({ perSecond, burst }: Rate): RateLimit {
  const costMs = 1_000 / perSecond;
  const wholeAtMs = new Map<string, number>();
  return {
    take: (client, nowMs) => {
      const next = Math.max(wholeAtMs.get(client) ?? 0, nowMs) + costMs;
      const overMs = next - nowMs - burst * costMs;
      if (overMs > 0) return Math.ceil(overMs);
      // Put at the end again: the first is the one that asked longest ago.
      wholeAtMs.delete(client);
      wholeAtMs.set(client, next);
      if (wholeAtMs.size > MOST_CLIENTS) wholeAtMs.delete(wholeAtMs.keys().next().value ?? "");
      return null;
    },
  };
}

/** Whoever has an address of IPv6 has a network of them: its first half is the client. */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
