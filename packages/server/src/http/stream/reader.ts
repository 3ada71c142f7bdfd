/** Reads each topic once for all who watch it, as long as somebody does. */

import type { Problem } from "@signalbox/contract";
import type { Reading } from "./change.ts";
import type { Topic } from "./topic.ts";

/** What came of one look at a topic. */
export type Look =
  | { readonly kind: "read"; readonly reading: Reading }
  | { readonly kind: "trouble"; readonly problem: Problem };

type Watcher = (topic: Topic, look: Look) => void;

export interface TopicReader {
  /** Tells what is known at once, then what every look brings. Answers how to stop it. */
  watch(topics: readonly Topic[], watcher: Watcher): () => void;
  /** How many topics would be read with these. */
  countWith(topics: readonly Topic[]): number;
  stop(): void;
}

interface Watched {
  readonly topic: Topic;
  readonly watchers: Set<Watcher>;
  last: Look | null;
  timer: NodeJS.Timeout | null;
}

/** `read` never rejects. */
export function createTopicReader(read: (topic: Topic) => Promise<Look>): TopicReader {
  const watched = new Map<string, Watched>();
  let stopped = false;

  const look = async (each: Watched): Promise<void> => {
    const fromMs = performance.now();
    const found = await read(each.topic);
    if (each.watchers.size === 0) return;
    each.last = found;
    for (const watcher of each.watchers) watcher(each.topic, found);
    // After the answer, not beside it, and after a rest as long as the answer took: a slow database is asked half the time at most.
    const restMs = Math.max(each.topic.everyMs, performance.now() - fromMs);
    if (!stopped) each.timer = setTimeout(() => void look(each), restMs);
  };

  const open = (topic: Topic): Watched => {
    const opened: Watched = { topic, watchers: new Set(), last: null, timer: null };
    watched.set(topic.name, opened);
    return opened;
  };

  const leave = (each: Watched, watcher: Watcher): void => {
    each.watchers.delete(watcher);
    if (each.watchers.size > 0) return;
    if (each.timer !== null) clearTimeout(each.timer);
    watched.delete(each.topic.name);
  };

  return {
    watch: (topics, watcher) => {
      const entered = topics.map((topic) => {
        const each = watched.get(topic.name) ?? open(topic);
        const isFirst = each.watchers.size === 0;
        each.watchers.add(watcher);
        if (isFirst) void look(each);
        else if (each.last !== null) watcher(topic, each.last);
        return each;
      });
      return () => {
        for (const each of entered) leave(each, watcher);
      };
    },
    countWith: (topics) => watched.size + topics.filter(({ name }) => !watched.has(name)).length,
    stop: () => {
      stopped = true;
      for (const { timer } of watched.values()) if (timer !== null) clearTimeout(timer);
    },
  };
}
