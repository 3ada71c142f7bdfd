/**
 * One stream for all tabs of the browser. What a tab wanted that has been silent for long is let go of, but not the tab: it may
 * have been hidden or asleep, and its next word brings it back.
 */

import type { StreamNews, TabRequest } from "./messages.ts";
import { createStream, type Stream } from "./stream.ts";

// Hidden tabs have their timers held back to one a minute.
const SILENT_MS = 180_000;

interface Tab {
  readonly listener: (news: StreamNews) => void;
  heardAt: number;
  wants: boolean;
}

const tabs = new Set<Tab>();
let stream: Stream | undefined;

globalThis.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const tab: Tab = { listener: (news) => port.postMessage(news), heardAt: Date.now(), wants: false };
  tabs.add(tab);
  port.addEventListener("message", ({ data }: MessageEvent<TabRequest>) => {
    tab.heardAt = Date.now();
    tab.wants = data.kind === "topics" && data.topics.length > 0;
    // A page that leaves may come back as it was.
    if (data.kind === "leave") tabs.delete(tab);
    else tabs.add(tab);
    if (data.kind === "topics") stream ??= createStream(data.url);
    stream?.want(tab.listener, data.kind === "topics" ? data.topics : []);
  });
  port.start();
});

setInterval(() => {
  for (const tab of tabs) {
    if (Date.now() - tab.heardAt < SILENT_MS || !tab.wants) continue;
    tab.wants = false;
    stream?.want(tab.listener, []);
    // It must not take itself for served while it is not.
    tab.listener({ kind: "state", state: "connecting", covered: [] });
  }
}, SILENT_MS / 3);
