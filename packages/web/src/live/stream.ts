/**
 * Holds one EventSource for any number of listeners and gives each the whole answers of its topics. It knows no page and no
 * document, so that it runs in a shared worker as well.
 */

import { timelineIn } from "./accept-answer.ts";
import { foldChange, type StreamChange } from "./fold-change.ts";
import type { StreamNews, StreamState } from "./messages.ts";
import { judgeFailure } from "./stream-failures.ts";

export interface Stream {
  /** Replaces what a listener wants; an empty list lets go of it. What it wanted before is not told again: it would be no news. */
  readonly want: (listener: Listener, topics: readonly string[]) => void;
}

export type Listener = (news: StreamNews) => void;

const TOPICS_AT_MOST = 20;
const SETTLE_MS = 100;

export function createStream(url: string): Stream {
  const wanted = new Map<Listener, readonly string[]>();
  const bodies = new Map<string, unknown>();
  let source: EventSource | null = null;
  let covered: readonly string[] = [];
  let state: StreamState = "connecting";
  let failedAt: readonly number[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const stateNews = (): StreamNews => ({ kind: "state", state, covered: state === "live" ? covered : [] });
  const tellAll = (news: StreamNews): void => {
    if (news.kind === "hello") {
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
    if (covered.length > 0) source = openSource(url, covered, { tellAll, takeChange, comeBack, renew: open });
  };
  const takeChange = (change: StreamChange): void => {
    const body = foldChange(bodies.get(change.topic), change);
    // A fresh connection is told everything, also what is older than what this one was told.
    if (body === null || isOtherTimeline(bodies.get(change.topic), body)) openIn(0);
    if (body === null) return;
    bodies.set(change.topic, body);
    for (const [listener, topics] of wanted)
      if (topics.includes(change.topic)) listener({ kind: "body", topic: change.topic, body });
  };
  const comeBack = (failed: EventSource): void => {
    if (source !== failed) return;
    close();
    const judged = judgeFailure(failedAt, Date.now());
    failedAt = judged.failedAt;
    state = judged.often ? "failing" : "connecting";
    tellAll(stateNews());
    openIn(judged.restMs * (0.5 + Math.random()));
  };

  return {
    want: (listener, topics) => {
      const before = wanted.get(listener) ?? [];
      if (topics.length === 0) wanted.delete(listener);
      else wanted.set(listener, topics);
      if (!sameTopics(unionOf(wanted.values()), covered)) return openIn(SETTLE_MS);
      listener(stateNews());
      for (const topic of topics.filter((each) => bodies.has(each) && !before.includes(each))) {
        listener({ kind: "body", topic, body: bodies.get(topic) });
      }
    },
  };
}

function isOtherTimeline(before: unknown, now: unknown): boolean {
  const [known, told] = [timelineIn(before), timelineIn(now)];
  return known !== null && told !== null && known !== told;
}

interface SourceEvents {
  readonly tellAll: (news: StreamNews) => void;
  readonly takeChange: (change: StreamChange) => void;
  readonly comeBack: (failed: EventSource) => void;
  /** The server wants to know again who asks. Nothing is lost meanwhile, so nobody is told. */
  readonly renew: () => void;
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
  source.addEventListener("renew", events.renew);
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
