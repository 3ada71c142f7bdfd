/**
 * One stream per browser: in a shared worker where there is one, else in the tab that has the lock and tells the others, else
 * one per tab.
 */

import type { StreamNews, TabRequest } from "./messages.ts";
import { createStream, type Listener } from "./stream.ts";

export type WantTopics = (topics: readonly string[]) => void;

const REPEAT_MS = 30_000;

/** By its address: two servers below different paths of one host are two. */
function nameOf(url: string): string {
  return `signalbox.stream ${url}`;
}

export function connectStream(url: string, listener: Listener): WantTopics {
  if (typeof SharedWorker !== "undefined") return throughWorker(url, listener);
  if (typeof BroadcastChannel !== "undefined" && "locks" in navigator) return throughLeader(url, listener);
  const stream = createStream(url);
  return (topics) => stream.want(listener, topics);
}

function throughWorker(url: string, listener: Listener): WantTopics {
  const worker = new SharedWorker(new URL("./stream-worker.ts", import.meta.url), {
    type: "module",
    name: nameOf(url),
  });
  worker.port.addEventListener("message", ({ data }: MessageEvent<StreamNews>) => listener(data));
  worker.port.start();
  return repeating(url, (request) => worker.port.postMessage(request));
}

interface FromTab {
  readonly from: string;
  readonly request: TabRequest;
}

interface ToTab {
  readonly to: string;
  readonly news: StreamNews;
}

/** Whoever has the lock holds the stream, for itself as well; when its tab goes, the next one gets the lock. */
function throughLeader(url: string, listener: Listener): WantTopics {
  const own = `${Date.now()}-${Math.random()}`;
  const channel = new BroadcastChannel(nameOf(url));
  const say = (message: FromTab | ToTab | "leading"): void => channel.postMessage(message);
  let lead: ((message: FromTab) => void) | null = null;
  let wanted: TabRequest | null = null;

  const ask = (request: TabRequest): void => {
    wanted = request;
    if (lead === null) say({ from: own, request });
    else lead({ from: own, request });
  };
  channel.addEventListener("message", ({ data }: MessageEvent<FromTab | ToTab | "leading">) => {
    if (data === "leading") {
      if (wanted !== null) say({ from: own, request: wanted });
    } else if ("to" in data) {
      if (data.to === own) listener(data.news);
    } else lead?.(data);
  });
  void navigator.locks.request(nameOf(url), async () => {
    const stream = createStream(url);
    const listeners = new Map<string, Listener>([[own, listener]]);
    lead = ({ from, request }) => {
      const known = listeners.get(from) ?? ((news: StreamNews) => say({ to: from, news }));
      listeners.set(from, known);
      stream.want(known, request.kind === "topics" ? request.topics : []);
    };
    if (wanted !== null) lead({ from: own, request: wanted });
    say("leading");
    await new Promise(() => {});
  });
  return repeating(url, ask);
}

/** Says again from time to time what is wanted, so that whoever holds the stream knows that this tab lives. */
function repeating(url: string, send: (request: TabRequest) => void): WantTopics {
  let last: readonly string[] = [];
  const sendLast = (): void => send({ kind: "topics", url, topics: last });
  setInterval(() => {
    if (last.length > 0) sendLast();
  }, REPEAT_MS);
  addEventListener("pagehide", () => send({ kind: "leave" }));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) sendLast();
  });
  return (topics) => {
    last = topics;
    sendLast();
  };
}
