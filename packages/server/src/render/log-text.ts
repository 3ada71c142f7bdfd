/**
 * What a task printed, made safe to show. It comes from anyone: on a terminal only its colours are let through,
 * elsewhere nothing but text.
 */

import { stripVTControlCharacters } from "node:util";
import { COLOR, RESET } from "./escape.ts";

/** Whatever moves the cursor or turns the text around; a tab does no harm. */
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** One line without its end. A colour that was begun is ended. */
export function logText(line: string, color: boolean): string {
  const parts = line.split(COLOR);
  // The odd ones are the colours.
  const shown = parts.map((part, index) => (index % 2 === 0 ? plain(part) : color ? part : ""));
  return color && parts.length > 1 ? `${shown.join("")}${RESET}` : shown.join("");
}

function plain(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, "·");
}

/** The lines of pieces that end anywhere: each stream has its own beginning of a line that is to be continued. */
export interface LineSplitter {
  readonly push: (stream: string, text: string) => readonly string[];
  /** What has no end yet. */
  readonly rest: () => readonly string[];
}

const LONGEST_LINE = 65_536;

export function createLineSplitter(): LineSplitter {
  const begun = new Map<string, string>();
  return {
    push: (stream, text) => {
      // A progress bar that goes back to the beginning of its line becomes lines.
      const lines = `${begun.get(stream) ?? ""}${text}`.split(/\r\n|\n|\r(?!$)/);
      const rest = lines.pop() ?? "";
      const isLong = rest.length > LONGEST_LINE;
      begun.set(stream, isLong ? "" : rest);
      return isLong ? [...lines, rest] : lines;
    },
    rest: () => {
      const rest = [...begun.values()].filter((line) => line !== "");
      begun.clear();
      return rest;
    },
  };
}
