import { expect, test } from "vitest";
import { PLAIN_LOOK } from "../../render/look.ts";
import { createProgram } from "../program.ts";
import { nextWord } from "./candidates.ts";

const silent = { look: PLAIN_LOOK, data: () => {}, note: () => {}, whenClosed: () => {} };
const program = createProgram(silent, true, () => {});

const valuesOf = (...words: readonly string[]): readonly string[] =>
  nextWord(program, words).candidates.map(({ value }) => value);

test("commands, and those of a group", () => {
  expect(valuesOf("st")).toEqual(["status", "stop"]);
  expect(valuesOf("queue", "")).toEqual(["list", "show", "set", "pause", "resume", "help"]);
  expect(valuesOf("")).not.toContain("__complete");
});

test("options of the command that was typed", () => {
  expect(valuesOf("task", "list", "--st")).toEqual(["--status"]);
  expect(valuesOf("task", "list", "--status", "failed", "--wat")).toEqual(["--watch"]);
  expect(valuesOf("task", "list", "--fi")).toEqual([]);
});

test("choices of an option and of an argument", () => {
  expect(valuesOf("status", "-o", "j")).toEqual(["json", "jsonl"]);
  expect(valuesOf("completion", "")).toEqual(["bash", "zsh", "fish", "powershell"]);
});

test.each([
  [["why", ""], "task"],
  [["task", "show", ""], "task"],
  [["runs", "watch", ""], "run"],
  [["queue", "pause", ""], "queue"],
  [["resource", "show", "or"], "resource"],
  [["cluster", "show", ""], "instance"],
  [["task", "list", "--run", ""], "run"],
  [["task", "list", "--queue", ""], "queue"],
  [["--server", "http://x", "why", ""], "task"],
  [["why", "019a8c3e", ""], null],
  [["enqueue", ""], null],
])("%j: what the server is asked for", (words, named) => {
  expect(nextWord(program, words).named).toBe(named);
});
