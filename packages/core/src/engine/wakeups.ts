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

/** At most this often a NOTIFY is sent by one instance. */
const COALESCE_MS = 50;

export function createWakeups(db: Database, directUrl: string, emit: Emit): Wakeups {
  const wakes = new Map<WakeChannel, (() => void)[]>();
  const unsent = new Set<WakeChannel>();
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  let listener: Listener | null = null;
  let deafSinceMs: number | null = null;

  const wake = (channel: WakeChannel): void => {
    for (const run of wakes.get(channel) ?? []) run();
  };
  const flush = (): void => {
    timer = null;
    const channels = [...unsent];
    unsent.clear();
    // Lost with a broken connection; the other side polls.
    sending = notifyChannels(db, channels).catch(() => {});
  };

  return {
    send: (channel) => {
      wake(channel);
      unsent.add(channel);
      timer ??= setTimeout(flush, COALESCE_MS);
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
      if (timer !== null) {
        clearTimeout(timer);
        flush();
      }
      await sending;
      await listener?.stop();
      listener = null;
    },
  };
}
