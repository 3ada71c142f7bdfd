/** Single keys from the terminal. Gives the terminal back as it was. */

import type { ReadStream } from "node:tty";

export type Key = "k" | "f" | "a" | "q";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

export function listenForKeys(terminal: ReadStream, onKey: (key: Key) => void): () => void {
  const onData = (typed: string): void => {
    for (const character of typed) {
      const key = keyOf(character);
      if (key !== null) onKey(key);
    }
  };
  terminal.setRawMode(true);
  terminal.setEncoding("utf8");
  terminal.on("data", onData);
  terminal.resume();
  return () => {
    terminal.off("data", onData);
    terminal.setRawMode(false);
    terminal.pause();
  };
}

function keyOf(character: string): Key | null {
  if (character === CTRL_C || character === CTRL_D) return "q";
  const lower = character.toLowerCase();
  return lower === "k" || lower === "f" || lower === "a" || lower === "q" ? lower : null;
}
