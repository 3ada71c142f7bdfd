/** What this tab follows: topics that pages want, the stream that brings them, and polling where it does not. */

import type { QueryClient } from "@tanstack/react-query";
import { apiUrl } from "../api/request.ts";
import { setServerTime } from "../shared/time/clock.ts";
import { connectStream, type WantTopics } from "./connect-stream.ts";
import { createFollowers, type Followers } from "./followers.ts";
import { setLiveState } from "./live-state.ts";
import type { StreamNews } from "./messages.ts";
import { createPoller } from "./poller.ts";
import { createTopicCache, type TopicCache, topicKey } from "./topic-cache.ts";
import { createTroubles, type Troubles } from "./troubles.ts";

const SETTLE_MS = 50;

export interface LiveData {
  /** Counts: a topic is followed as long as somebody wants it. Answers how to let go. */
  readonly follow: (topic: string) => () => void;
  readonly read: TopicCache["read"];
  readonly setPaused: (paused: boolean) => void;
}

export function createLiveData(queries: QueryClient): LiveData {
  const troubles = createTroubles();
  const cache = createTopicCache(queries, troubles);
  let covered: ReadonlySet<string> = new Set();
  let paused = false;
  let want: WantTopics | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settle = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      want ??= connectStream(apiUrl("stream"), take);
      want(active());
      setLiveState({ trouble: troubles.keep(followers.topics()) });
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
    noteNews(news, troubles);
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

function noteNews(news: StreamNews, troubles: Troubles): void {
  switch (news.kind) {
    case "state":
      setLiveState({ stream: news.state });
      return;
    case "hello":
      setServerTime(news.serverTime);
      setLiveState({ serverId: news.serverId, answeredAt: Date.now(), unreachableSince: null });
      return;
    case "body":
      setLiveState({
        answeredAt: Date.now(),
        trouble: troubles.note(news.topic, null),
        unreachableSince: null,
      });
      return;
    case "trouble":
      setLiveState({ trouble: troubles.note(news.topic, news.problem) });
  }
}
