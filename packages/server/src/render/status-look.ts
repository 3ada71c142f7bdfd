/** A status is always a word; the symbol and the colour are extra. */

import type { Explanation } from "@signalbox/contract";
import type { Look } from "./look.ts";

export type Status = Explanation["status"];

const STATUS_LOOK = {
  NOT_STARTED: { word: "not started", symbol: "◌", ascii: ".", color: "gray" },
  PENDING: { word: "pending", symbol: "◷", ascii: "?", color: "yellow" },
  AVAILABLE: { word: "available", symbol: "▷", ascii: ">", color: "cyan" },
  RUNNING: { word: "running", symbol: "●", ascii: "*", color: "blue" },
  DONE: { word: "done", symbol: "✔", ascii: "+", color: "green" },
  FAILED: { word: "failed", symbol: "✖", ascii: "x", color: "red" },
  CANCELED: { word: "canceled", symbol: "⊘", ascii: "/", color: "gray" },
  SKIPPED: { word: "skipped", symbol: "»", ascii: "-", color: "magenta" },
} as const satisfies Record<
  Status,
  { word: string; symbol: string; ascii: string; color: keyof Look["colors"] }
>;

/** "◷ pending" */
export function statusText(status: Status, look: Look): string {
  const { word, symbol, ascii, color } = STATUS_LOOK[status];
  return look.colors[color](`${look.unicode ? symbol : ascii} ${word}`);
}

export function statusWord(status: Status): string {
  return STATUS_LOOK[status].word;
}
