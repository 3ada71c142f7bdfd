/** One stream for all tabs of the browser. A tab that is closed without a word is dropped after a while. */

import type { StreamNews, TabRequest } from "./messages.ts";
import { createStream, type Stream } from "./stream.ts";

// Hidden tabs have their timers held back to one a minute.
const SILENT_MS = 180_000;

interface Tab {
  readonly listener: (news: StreamNews) => void;
  heardAt: number;
}

const tabs = new Map<MessagePort, Tab>();
let stream: Stream | undefined;

globalThis.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const tab: Tab = { listener: (news) => port.postMessage(news), heardAt: Date.now() };
  tabs.set(port, tab);
  port.addEventListener("message", ({ data }: MessageEvent<TabRequest>) => {
    tab.heardAt = Date.now();
    if (data.kind === "topics") stream ??= createStream(data.url);
    stream?.want(tab.listener, data.kind === "topics" ? data.topics : []);
  });
  port.start();
});

setInterval(() => {
  for (const [port, tab] of tabs) {
    if (Date.now() - tab.heardAt < SILENT_MS) continue;
    tabs.delete(port);
    stream?.want(tab.listener, []);
    port.close();
  }
}, SILENT_MS / 3);
