/**
 * Draws some lines again and again in the same place of a terminal, and only those that have changed.
 *
 * It never scrolls what was there before away, and what it shows last stays: the terminal is used, not taken over.
 */

import { CLEAR_BELOW, CLEAR_LINE, linesUp } from "./escape.ts";
import { fitLines, type Size } from "./fit.ts";

export interface LiveTerminal {
  readonly write: (text: string) => void;
  readonly size: () => Size;
  readonly unicode: boolean;
}

export interface LiveScreen {
  /** Drawn at once, or with the next of at most ten frames in a second. */
  readonly show: (lines: readonly string[]) => void;
  /** Replaces the frame by these lines, however many they are. They stay. */
  readonly end: (lines: readonly string[]) => void;
}

const FRAME_MS = 100;

export function createLiveScreen(
  terminal: LiveTerminal,
  now: () => number = () => performance.now(),
): LiveScreen {
  let drawn: readonly string[] = [];
  let drawnFor: Size | null = null;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let next: readonly string[] | null = null;
  let timer: NodeJS.Timeout | null = null;

  const draw = (): void => {
    timer = null;
    if (next === null) return;
    const size = terminal.size();
    const frame = fitLines(next, size, terminal.unicode);
    next = null;
    drawnAt = now();
    // After a change of its width the terminal has wrapped the old lines in ways nobody knows.
    const kept = drawnFor?.columns === size.columns ? drawn : drawn.map(() => null);
    terminal.write(frameUpdate(kept, frame));
    drawn = frame;
    drawnFor = size;
  };
  return {
    show: (lines) => {
      next = lines;
      const restMs = drawnAt + FRAME_MS - now();
      if (restMs <= 0) draw();
      else timer ??= setTimeout(draw, restMs);
    },
    end: (lines) => {
      if (timer !== null) clearTimeout(timer);
      next = null;
      terminal.write(`${linesUp(drawn.length)}${CLEAR_BELOW}${lines.map((line) => `${line}\n`).join("")}`);
      drawn = [];
    },
  };
}

/** From one frame to the next, with the cursor on the line below the frame before and after. Null: not known. */
export function frameUpdate(before: readonly (string | null)[], after: readonly string[]): string {
  const lines = after.map((line, index) => {
    const same = index < before.length && before[index] === line;
    return same ? "\n" : `${CLEAR_LINE}${line}\n`;
  });
  const erase = before.length > after.length ? CLEAR_BELOW : "";
  return `${linesUp(before.length)}${lines.join("")}${erase}`;
}
