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
  let failures: readonly number[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const tellAll = (news: StreamNews): void => {
    for (const listener of wanted.keys()) listener(news);
  };
  const tellState = (next: StreamState): void => {
    state = next;
    tellAll({ kind: "state", state, covered: state === "live" ? covered : [] });
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
    if (covered.length === 0) return;
    const query = covered.map((topic) => `topic=${encodeURIComponent(topic)}`).join("&");
    const opened = new EventSource(`${url}?${query}`);
    source = opened;
    opened.addEventListener("hello", ({ data }) => {
      failures = [];
      tellState("live");
      tellAll({ kind: "hello", ...(JSON.parse(data) as { serverTime: string; serverId: string }) });
    });
    opened.addEventListener("change", ({ data }) => takeChange(JSON.parse(data) as StreamChange));
    opened.addEventListener("trouble", ({ data }) => {
      tellAll({ kind: "trouble", ...(JSON.parse(data) as { topic: string; problem: never }) });
    });
    // The browser's own way of coming back does not tell how often it failed, and gives up where a proxy answers.
    opened.addEventListener("error", () => {
      if (source === opened) comeBack();
    });
  };

  const takeChange = (change: StreamChange): void => {
    const body = foldChange(bodies.get(change.topic), change);
    if (body === null) {
      openIn(0);
      return;
    }
    bodies.set(change.topic, body);
    for (const [listener, topics] of wanted) {
      if (topics.includes(change.topic)) listener({ kind: "body", topic: change.topic, body });
    }
  };

  const comeBack = (): void => {
    close();
    const now = Date.now();
    failures = [...failures.filter((at) => now - at < FAILURES_WITHIN_MS), now];
    tellState(failures.length >= FAILURES ? "failing" : "connecting");
    openIn(RETRY_MS[Math.min(failures.length, RETRY_MS.length) - 1] ?? 0);
  };

  return {
    want: (listener, topics) => {
      if (topics.length === 0) wanted.delete(listener);
      else wanted.set(listener, topics);
      const union = unionOf(wanted.values());
      if (!sameTopics(union, covered) || (source === null && union.length > 0 && state === "live")) {
        openIn(SETTLE_MS);
        return;
      }
      listener({ kind: "state", state, covered: state === "live" ? covered : [] });
      for (const topic of topics) {
        const body = bodies.get(topic);
        if (body !== undefined) listener({ kind: "body", topic, body });
      }
    },
  };
}

/** Whoever asked last is served first where there are too many; tabs poll for the rest. */
function unionOf(lists: Iterable<readonly string[]>): readonly string[] {
  return [...new Set([...lists].toReversed().flat())].slice(0, TOPICS_AT_MOST).toSorted();
}

function sameTopics(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((topic, index) => topic === other[index]);
}
