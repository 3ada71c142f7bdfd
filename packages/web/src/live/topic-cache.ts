/** Where answers enter the cache, those of requests and those of the stream, through one acceptance. */

import type { Problem } from "@signalbox/contract";
import type { QueryClient } from "@tanstack/react-query";
import { ApiError, readPath } from "../api/request.ts";
import { createAcceptance } from "./accept-answer.ts";
import { setLiveState } from "./live-state.ts";
import type { Troubles } from "./troubles.ts";

export function topicKey(topic: string): readonly ["topic", string] {
  return ["topic", topic];
}

export interface TopicCache {
  readonly put: (topic: string, body: unknown) => void;
  /** Reads a topic by a request; what the stream said meanwhile wins. */
  readonly read: (topic: string, signal: AbortSignal) => Promise<unknown>;
}

export function createTopicCache(queries: QueryClient, troubles: Troubles): TopicCache {
  const accept = createAcceptance();
  const heard = new Map<string, number>();
  return {
    put: (topic, body) => {
      heard.set(topic, (heard.get(topic) ?? 0) + 1);
      queries.setQueryData(topicKey(topic), accept(body));
    },
    read: async (topic, signal) => {
      const before = heard.get(topic);
      const body = await noteReachable(troubles, topic, readPath(topic, signal));
      const cached = queries.getQueryData(topicKey(topic));
      // The stream has spoken since this was asked: the answer may be older than what it said.
      return heard.get(topic) !== before && cached !== undefined ? cached : accept(body);
    },
  };
}

async function noteReachable(troubles: Troubles, topic: string, answer: Promise<unknown>): Promise<unknown> {
  try {
    const body = await answer;
    setLiveState({ answeredAt: Date.now(), unreachableSince: null, trouble: troubles.note(topic, null) });
    return body;
  } catch (error) {
    if (error instanceof ApiError) noteProblem(troubles, topic, error.problem);
    throw error;
  }
}

function noteProblem(troubles: Troubles, topic: string, problem: Problem | null): void {
  if (problem === null) setLiveState({ unreachableSince: Date.now() });
  else if (problem.status === 401) setLiveState({ locked: true });
  else setLiveState({ trouble: troubles.note(topic, problem) });
}
