/** The log of `dev`: holds lines back until the banner stands, then writes them as they come. */

import type { Look } from "../render/look.ts";
import { type LogEntry, logLine } from "./event-line.ts";

export interface EventLog {
  readonly log: (entry: Omit<LogEntry, "at">) => void;
  /** Lets the lines through, those that were held back first. */
  readonly open: () => void;
  /** From now on nothing is written: what matters has been said. */
  readonly close: () => void;
}

export function createEventLog(write: (line: string) => void, look: Look): EventLog {
  let held: string[] | null = [];
  let closed = false;
  return {
    log: (entry) => {
      if (closed) return;
      const line = logLine({ ...entry, at: new Date() }, look);
      if (held === null) write(line);
      else held.push(line);
    },
    open: () => {
      for (const line of held ?? []) write(line);
      held = null;
    },
    close: () => {
      closed = true;
    },
  };
}
