/** What a tab and whoever holds the stream say to each other. */

import type { Problem } from "@signalbox/contract";

/** `failing`: the stream was lost too often of late; tabs poll until it is back. */
export type StreamState = "connecting" | "live" | "failing";

export type StreamNews =
  | { readonly kind: "state"; readonly state: StreamState; readonly covered: readonly string[] }
  | { readonly kind: "hello"; readonly serverTime: string; readonly serverId: string }
  | { readonly kind: "body"; readonly topic: string; readonly body: unknown }
  | { readonly kind: "trouble"; readonly topic: string; readonly problem: Problem };

export type TabRequest =
  | { readonly kind: "topics"; readonly url: string; readonly topics: readonly string[] }
  | { readonly kind: "leave" };
