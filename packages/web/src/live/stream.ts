/**
 * Holds one EventSource for any number of listeners and gives each the whole answers of its topics. It knows no page and no
 * document, so that it runs in a shared worker as well.
 */

import { foldChange, type StreamChange } from "./fold-change.ts";
import type { StreamNews, StreamState } from "./messages.ts";

export interface Stream {
  /** Replaces what a listener wants; an empty list lets go of it. */
  readonly want: (listener: Listener, topics: readonly string[]) => void;
}

export type Listener = (news: StreamNews) => void;

const TOPICS_AT_MOST = 20;
const SETTLE_MS = 100;
const FAILURES = 3;
const FAILURES_WITHIN_MS = 30_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000] as const;

export function createStream(url: string): Stream {
  const wanted = new Map<Listener, readonly string[]>();
  const bodies = new Map<string, unknown>();
  let source: EventSource | null = null;
  let covered: readonly string[] = [];
  let state: StreamState = "connecting";
  const failures = createFailures();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const stateNews = (): StreamNews => ({ kind: "state", state, covered: state === "live" ? covered : [] });
  const tellAll = (news: StreamNews): void => {
    if (news.kind === "hello") {
      failures.forget();
      state = "live";
      tellAll(stateNews());
    }
    for (const listener of wanted.keys()) listener(news);
  };
  const openIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(open, ms);
  };
  const close = (): void => {
    source?.close();
    source = null;
    bodies.clear();
  };
  const open = (): void => {
    close();
    covered = unionOf(wanted.values());
    if (covered.length > 0) source = openSource(url, covered, { tellAll, takeChange, comeBack });
  };
  const takeChange = (change: StreamChange): void => {
    const { topic } = change;
    const body = foldChange(bodies.get(topic), change);
    if (body === null) return openIn(0);
    bodies.set(topic, body);
    for (const [listener, topics] of wanted)
      if (topics.includes(topic)) listener({ kind: "body", topic, body });
  };
  const comeBack = (failed: EventSource): void => {
    if (source !== failed) return;
    close();
    const { often, restMs } = failures.note(Date.now());
    state = often ? "failing" : "connecting";
    tellAll(stateNews());
    openIn(restMs);
  };

  return {
    want: (listener, topics) => {
      if (topics.length === 0) wanted.delete(listener);
      else wanted.set(listener, topics);
      if (!sameTopics(unionOf(wanted.values()), covered)) return openIn(SETTLE_MS);
      listener(stateNews());
      for (const topic of topics.filter((each) => bodies.has(each))) {
        listener({ kind: "body", topic, body: bodies.get(topic) });
      }
    },
  };
}

interface Failures {
  readonly note: (now: number) => { readonly often: boolean; readonly restMs: number };
  readonly forget: () => void;
}

function createFailures(): Failures {
  let times: readonly number[] = [];
  return {
    note: (now) => {
      times = [...times.filter((at) => now - at < FAILURES_WITHIN_MS), now];
      const restMs = RETRY_MS[Math.min(times.length, RETRY_MS.length) - 1] ?? 0;
      // Not all browsers at the same moment, where a server has ended.
      return { often: times.length >= FAILURES, restMs: restMs * (0.5 + Math.random()) };
    },
    forget: () => {
      times = [];
    },
  };
}

interface SourceEvents {
  readonly tellAll: (news: StreamNews) => void;
  readonly takeChange: (change: StreamChange) => void;
  readonly comeBack: (failed: EventSource) => void;
}

function openSource(url: string, topics: readonly string[], events: SourceEvents): EventSource {
  const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join("&");
  const source = new EventSource(`${url}?${query}`);
  source.addEventListener("hello", ({ data }) => {
    events.tellAll({ kind: "hello", ...(JSON.parse(data) as { serverTime: string; serverId: string }) });
  });
  source.addEventListener("change", ({ data }) => events.takeChange(JSON.parse(data) as StreamChange));
  source.addEventListener("trouble", ({ data }) => {
    events.tellAll({ kind: "trouble", ...(JSON.parse(data) as { topic: string; problem: never }) });
  });
  // The browser's own way of coming back does not tell how often it failed, and gives up where a proxy answers.
  source.addEventListener("error", () => events.comeBack(source));
  return source;
}

/** Whoever asked last is served first where there are too many; tabs poll for the rest. */
function unionOf(lists: Iterable<readonly string[]>): readonly string[] {
  return [...new Set([...lists].toReversed().flat())].slice(0, TOPICS_AT_MOST).toSorted();
}

function sameTopics(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((topic, index) => topic === other[index]);
}
