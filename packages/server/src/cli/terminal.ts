import type { LiveTerminal } from "../render/live-screen.ts";

/** Stdout where a person looks at it; null: a pipe, a file or a build log. */
export function terminalOf(stdout: NodeJS.WriteStream, unicode: boolean): LiveTerminal | null {
  if (stdout.isTTY !== true) return null;
  return {
    write: (text) => void stdout.write(text),
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    unicode,
  };
}
