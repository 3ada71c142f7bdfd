/** What this tab follows: topics that pages want, the stream that brings them, and polling where it does not. */

import type { Problem } from "@signalbox/contract";
import type { QueryClient } from "@tanstack/react-query";
import { ApiError, apiUrl, readPath } from "../api/request.ts";
import { setServerTime } from "../shared/time/clock.ts";
import { createAcceptance } from "./accept-answer.ts";
import { connectStream, type WantTopics } from "./connect-stream.ts";
import { createFollowers, type Followers } from "./followers.ts";
import { setLiveState } from "./live-state.ts";
import type { StreamNews } from "./messages.ts";
import { createPoller } from "./poller.ts";

const SETTLE_MS = 50;

export interface LiveData {
  /** Counts: a topic is followed as long as somebody wants it. Answers how to let go. */
  readonly follow: (topic: string) => () => void;
  /** Reads a topic by a request; what the stream said meanwhile wins. */
  readonly read: (topic: string, signal: AbortSignal) => Promise<unknown>;
  readonly setPaused: (paused: boolean) => void;
}

export function topicKey(topic: string): readonly ["topic", string] {
  return ["topic", topic];
}

export function createLiveData(queries: QueryClient): LiveData {
  const cache = createTopicCache(queries);
  let covered: ReadonlySet<string> = new Set();
  let paused = false;
  let want: WantTopics | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settle = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      want ??= connectStream(apiUrl("stream"), take);
      want(active());
      poller.wake();
    }, SETTLE_MS);
  };
  const followers: Followers = createFollowers(settle);
  const active = (): readonly string[] => {
    return paused || document.visibilityState === "hidden" ? [] : followers.topics();
  };
  const poller = createPoller({
    topics: () => active().filter((topic) => !covered.has(topic)),
    poll: async (topic) =>
      await queries.refetchQueries({ queryKey: topicKey(topic), exact: true }, { cancelRefetch: false }),
    snapshot: (topic) => queries.getQueryState(topicKey(topic))?.data,
  });
  const take = (news: StreamNews): void => {
    noteNews(news);
    if (news.kind === "body") cache.put(news.topic, news.body);
    if (news.kind === "state") {
      covered = new Set(news.covered);
      poller.wake();
    }
  };
  document.addEventListener("visibilitychange", settle);

  return {
    follow: followers.follow,
    read: cache.read,
    setPaused: (next) => {
      paused = next;
      setLiveState({ paused });
      settle();
    },
  };
}

interface TopicCache {
  readonly put: (topic: string, body: unknown) => void;
  readonly read: LiveData["read"];
}

/** Answers of both ways come in here, through one acceptance. */
function createTopicCache(queries: QueryClient): TopicCache {
  const accept = createAcceptance();
  const heard = new Map<string, number>();
  return {
    put: (topic, body) => {
      heard.set(topic, (heard.get(topic) ?? 0) + 1);
      queries.setQueryData(topicKey(topic), accept(body));
    },
    read: async (topic, signal) => {
      const before = heard.get(topic);
      const body = await noteReachable(readPath(topic, signal));
      const cached = queries.getQueryData(topicKey(topic));
      // The stream has spoken since this was asked: the answer may be older than what it said.
      return heard.get(topic) !== before && cached !== undefined ? cached : accept(body);
    },
  };
}

function noteNews(news: StreamNews): void {
  switch (news.kind) {
    case "state":
      setLiveState({ stream: news.state });
      return;
    case "hello":
      setServerTime(news.serverTime);
      setLiveState({ serverId: news.serverId, answeredAt: Date.now(), unreachableSince: null });
      return;
    case "body":
      setLiveState({ answeredAt: Date.now(), trouble: null, unreachableSince: null });
      return;
    case "trouble":
      setLiveState({ trouble: news.problem });
  }
}

async function noteReachable(answer: Promise<unknown>): Promise<unknown> {
  try {
    const body = await answer;
    setLiveState({ answeredAt: Date.now(), unreachableSince: null, trouble: null });
    return body;
  } catch (error) {
    if (error instanceof ApiError) noteProblem(error.problem);
    throw error;
  }
}

function noteProblem(problem: Problem | null): void {
  if (problem === null) setLiveState({ unreachableSince: Date.now() });
  else if (problem.status === 401) setLiveState({ locked: true });
  else if (problem.status === 503) setLiveState({ trouble: problem });
}
