/**
 * LISTEN and NOTIFY as a hint between instances. Nothing depends on it: every loop also polls. NOTIFY is
 * sent after the commit and coalesced, because inside every transaction it costs two thirds of the throughput.
 */

import { monotonicMs } from "../executors/monotonic.ts";
import type { Database } from "../store/database.ts";
import { type Listener, listen } from "../store/listen.ts";
import { notifyChannels, type WakeChannel } from "../store/notify.ts";
import type { Emit } from "./telemetry.ts";

export interface Wakeups {
  /** Tells the other instances, soon; the own loops are woken at once. */
  send: (channel: WakeChannel) => void;
  on: (channel: WakeChannel, wake: () => void) => void;
  start: () => void;
  stop: () => Promise<void>;
}

/** At most this often a NOTIFY is sent by one instance: the first at once, what comes sooner after it together. */
const COALESCE_MS = 10;

export function createWakeups(db: Database, directUrl: string, emit: Emit): Wakeups {
  const wakes = new Map<WakeChannel, (() => void)[]>();
  const hints = createHints(db);
  let listener: Listener | null = null;
  let deafSinceMs: number | null = null;

  const wake = (channel: WakeChannel): void => {
    for (const run of wakes.get(channel) ?? []) run();
  };

  return {
    send: (channel) => {
      wake(channel);
      hints.send(channel);
    },
    on: (channel, run) => {
      wakes.set(channel, [...(wakes.get(channel) ?? []), run]);
    },
    start: () => {
      listener = listen({
        url: directUrl,
        onWake: wake,
        // Whatever was sent while nobody listened is not sent again.
        onConnected: () => {
          if (deafSinceMs !== null) emit({ type: "listener.regained", deafMs: monotonicMs() - deafSinceMs });
          for (const channel of wakes.keys()) wake(channel);
        },
        onLost: (error) => {
          deafSinceMs = monotonicMs();
          emit({ type: "listener.lost", error });
        },
      });
    },
    stop: async () => {
      await hints.end();
      await listener?.stop();
      listener = null;
    },
  };
}

interface Hints {
  readonly send: (channel: WakeChannel) => void;
  /** Sends what is left. */
  readonly end: () => Promise<void>;
}

function createHints(db: Database): Hints {
  const unsent = new Set<WakeChannel>();
  let timer: NodeJS.Timeout | null = null;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let sending: Promise<void> | null = null;

  const flush = async (): Promise<void> => {
    timer = null;
    sentAtMs = monotonicMs();
    const channels = [...unsent];
    unsent.clear();
    // Lost with a broken connection; the other side polls.
    await notifyChannels(db, channels).catch(() => {});
    sending = null;
    if (unsent.size > 0) flushSoon();
  };
  const begin = (): void => {
    sending = flush();
  };
  const flushSoon = (): void => {
    // One at a time: a slow database must not find all connections busy with hints.
    if (timer !== null || sending !== null) return;
    const waitMs = sentAtMs + COALESCE_MS - monotonicMs();
    if (waitMs > 0) timer = setTimeout(begin, waitMs);
    else begin();
  };
  return {
    send: (channel) => {
      unsent.add(channel);
      flushSoon();
    },
    end: async () => {
      await sending;
      if (timer !== null) {
        clearTimeout(timer);
        begin();
      }
      await sending;
    },
  };
}
