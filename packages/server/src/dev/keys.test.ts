import { EventEmitter } from "node:events";
import type { ReadStream } from "node:tty";
import { expect, test } from "vitest";
import { type Key, listenForKeys } from "./keys.ts";

test("keys are heard in either case, Ctrl-C quits, and the terminal is given back", () => {
  const modes: boolean[] = [];
  const terminal = Object.assign(new EventEmitter(), {
    setRawMode: (raw: boolean) => modes.push(raw),
    setEncoding: () => {},
    resume: () => {},
    pause: () => {},
  });
  const heard: Key[] = [];

  const stop = listenForKeys(terminal as unknown as ReadStream, (key) => heard.push(key));
  terminal.emit("data", "kFx");
  terminal.emit("data", "\u0003");
  stop();
  terminal.emit("data", "a");

  expect(heard).toEqual(["k", "f", "q"]);
  expect(modes).toEqual([true, false]);
});
