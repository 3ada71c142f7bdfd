/**
 * Looks at something again and again until it is over, somebody leaves, or time is up.
 *
 * The server's stream says when something has changed; where there is none, it is asked again and again.
 * In a terminal it is redrawn in its place, and its last state stays. Elsewhere each change is a line of its own.
 * Ctrl-C detaches: it ends the looking and never the work.
 */

import { ProblemError, UnreachableError } from "@signalbox/contract";
import { createLiveScreen, type LiveTerminal } from "../render/live-screen.ts";
import { clockText } from "../render/time.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { followNews, type NewsOf } from "./follow-news.ts";
import { type Interrupt, onInterrupt } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { type AskOptions, isJson, type WatchOptions } from "./shared-options.ts";
import { terminalOf } from "./terminal.ts";

export interface Watched<State> {
  readonly read: () => Promise<State>;
  /** The whole state, for a terminal. */
  readonly lines: (state: State) => readonly string[];
  /** Where nothing can be redrawn: a line per thing that can change, by its name. */
  readonly facts: (state: State) => ReadonlyMap<string, string>;
  /** The same as JSON; without it only the summary is said. */
  readonly jsonFacts?: (state: State) => ReadonlyMap<string, string>;
  /** How it ended; null: it goes on. */
  readonly endOf?: (state: State) => ExitCode | null;
  /** What is printed last; else what `lines` says. */
  readonly summary?: (state: State) => readonly string[];
  /** By which topics a change is told; without them it is looked at every interval. */
  readonly news?: NewsOf;
  /** How to come back after Ctrl-C. */
  readonly again: string;
}

export interface WatchWish {
  readonly intervalMs: number;
  /** Null: for ever. */
  readonly timeoutMs: number | null;
  readonly json: boolean;
  readonly output: Output;
}

const DEFAULT_INTERVAL_MS = 1_000;

export function watchWish(options: AskOptions & WatchOptions, output: Output): WatchWish {
  const { interval, timeout } = options;
  return {
    intervalMs: interval ?? DEFAULT_INTERVAL_MS,
    timeoutMs: timeout ?? null,
    json: isJson(options),
    output,
  };
}

export async function watch<State>(watched: Watched<State>, wish: WatchWish): Promise<ExitCode> {
  const show = showing(watched, wish);
  const interrupt = onInterrupt();
  const deadline = wish.timeoutMs === null ? Infinity : performance.now() + wish.timeoutMs;
  const news = followNews(watched.news ?? null, { intervalMs: wish.intervalMs, signal: interrupt.signal });
  try {
    let state = await watched.read();
    for (;;) {
      show.change(state);
      const end = watched.endOf?.(state) ?? whyLeave(interrupt, deadline);
      if (end !== null) {
        show.end(state);
        sayWhy(end, watched.again, wish.output);
        return end;
      }
      await news.next(deadline - performance.now());
      if (!interrupt.happened()) state = await readAgain(watched, state, show.trouble);
    }
  } finally {
    await news.close();
    interrupt.dispose();
  }
}

function whyLeave(interrupt: Interrupt, deadline: number): ExitCode | null {
  if (interrupt.happened()) return EXIT.interrupted;
  return performance.now() >= deadline ? EXIT.timedOut : null;
}

function sayWhy(end: ExitCode, again: string, { note }: Output): void {
  if (end === EXIT.interrupted) note(`Detached; the work goes on. Again: ${again}`);
  if (end === EXIT.timedOut) note(`Time is up, and it is still going. Again: ${again}`);
}

interface Show<State> {
  readonly change: (state: State) => void;
  readonly trouble: (sentence: string) => void;
  readonly end: (state: State) => void;
}

function showing<State>(watched: Watched<State>, wish: WatchWish): Show<State> {
  const terminal = wish.json ? null : terminalOf(process.stdout, wish.output.look.unicode);
  return terminal === null ? appending(watched, wish) : redrawing(watched, terminal);
}

function redrawing<State>(watched: Watched<State>, terminal: LiveTerminal): Show<State> {
  const screen = createLiveScreen(terminal);
  let shown: readonly string[] = [];
  return {
    change: (state) => {
      shown = watched.lines(state);
      screen.show(shown);
    },
    trouble: (sentence) => screen.show([...shown, sentence]),
    end: (state) => screen.end((watched.summary ?? watched.lines)(state)),
  };
}

function appending<State>(watched: Watched<State>, { json, output }: WatchWish): Show<State> {
  const { data, note, look } = output;
  const none: ReadonlyMap<string, string> = new Map();
  const factsOf = json ? (watched.jsonFacts ?? (() => none)) : watched.facts;
  let known: ReadonlyMap<string, string> = new Map();
  let troubled = false;
  return {
    change: (state) => {
      const now = new Date().toISOString();
      troubled = false;
      const facts = factsOf(state);
      for (const [name, fact] of facts) {
        if (known.get(name) !== fact) data(json ? fact : `${clockText(now, now, look)} ${fact}`);
      }
      known = facts;
    },
    // Once, not with each attempt.
    trouble: (sentence) => {
      if (!troubled) note(sentence);
      troubled = true;
    },
    end: (state) => {
      for (const line of watched.summary?.(state) ?? []) data(line);
    },
  };
}

/** Which say nothing of what is watched: too often, for which the client has waited already, and not now. */
const PASSING: ReadonlySet<number> = new Set([429, 503]);

/** A server that is restarted is no reason to leave. */
async function readAgain<State>(
  watched: Watched<State>,
  state: State,
  trouble: (sentence: string) => void,
): Promise<State> {
  try {
    return await watched.read();
  } catch (error) {
    const passes =
      error instanceof UnreachableError ||
      (error instanceof ProblemError && PASSING.has(error.problem.status));
    if (!passes) throw error;
    trouble(`No answer (${error.message}); asking again.`);
    return state;
  }
}
