/**
 * LISTEN and NOTIFY as a hint between instances. Nothing depends on it: every loop also polls. Inside every transaction
 * NOTIFY costs two thirds of the throughput: it is sent after the commit and coalesced, or goes with one now and then.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Database } from "../store/database.ts";
import { type Listener, listen } from "../store/listen.ts";
import { notifyChannels, type WakeChannel } from "../store/notify.ts";
import type { InsertedTaskRun } from "../store/task-runs/inserted.ts";
import type { Emit } from "./telemetry.ts";

export interface Wakeups {
  /** Tells the other instances, soon; the own loops are woken at once. */
  send: (channel: WakeChannel) => void;
  /** Wakes the own loops only: the others were told by the transaction itself. */
  wakeOwn: (channel: WakeChannel) => void;
  /** Lets a transaction that begins now tell the others with its own commit, which saves a second one; null: not now. */
  takeTurn: () => Turn | null;
  on: (channel: WakeChannel, wake: () => void) => void;
  /** Whether what others tell is heard, as far as is known: a connection that is half open, or a pooler, says nothing. */
  hears: () => boolean;
  start: () => void;
  stop: () => Promise<void>;
}

/**
 * Whoever notifies keeps all others of the server from it until his commit is on disk. So each instance does it for a tenth
 * of the time at most: the commit is about half of the call, and the rest is as long as five of these. Where many do and have
 * to wait for each other, that gets less by itself.
 */
const TURN_REST = 5;

/** For as long as the transaction that has it. */
interface Turn {
  readonly end: () => void;
}

/** At most this often a NOTIFY is sent by one instance: the first at once, what comes sooner after it together. */
const COALESCE_MS = 10;

export function createWakeups(db: Database, directUrl: string, emit: Emit): Wakeups {
  const wakes = new Map<WakeChannel, (() => void)[]>();
  const hints = createHints(db);
  let listener: Listener | null = null;
  let deafSinceMs: number | null = null;
  let hears = false;

  const wake = (channel: WakeChannel): void => {
    for (const run of wakes.get(channel) ?? []) run();
  };

  return {
    send: (channel) => {
      wake(channel);
      hints.send(channel);
    },
    wakeOwn: wake,
    takeTurn: hints.takeTurn,
    hears: () => hears,
    on: (channel, run) => {
      wakes.set(channel, [...(wakes.get(channel) ?? []), run]);
    },
    start: () => {
      listener = listen({
        url: directUrl,
        onWake: wake,
        // Whatever was sent while nobody listened is not sent again.
        onConnected: () => {
          hears = true;
          if (deafSinceMs !== null) emit({ type: "listener.regained", deafMs: monotonicMs() - deafSinceMs });
          for (const channel of wakes.keys()) wake(channel);
        },
        onLost: (error) => {
          hears = false;
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

/** Who is to be woken for what was enqueued. */
export function wakesFor(taskRuns: readonly Pick<InsertedTaskRun, "status">[]): readonly WakeChannel[] {
  const channels = new Set<WakeChannel>();
  for (const { status } of taskRuns)
    channels.add(status === "PENDING" ? "signalbox_gate" : "signalbox_ready");
  return [...channels];
}

interface Hints {
  readonly send: (channel: WakeChannel) => void;
  readonly takeTurn: () => Turn | null;
  /** Sends what is left. */
  readonly end: () => Promise<void>;
}

function createHints(db: Database): Hints {
  const unsent = new Set<WakeChannel>();
  let timer: NodeJS.Timeout | null = null;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let sending: Promise<void> | null = null;
  let isTaken = false;
  let nextTurnAtMs = Number.NEGATIVE_INFINITY;

  const flush = async (): Promise<void> => {
    timer = null;
    sentAtMs = monotonicMs();
    // Whoever has just enqueued and goes on with more finds the connection that he has given back.
    await nextTurn();
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
    const waitMs = msToWait();
    if (waitMs > 0) timer = setTimeout(begin, waitMs);
    else begin();
  };
  const msToWait = (): number => sentAtMs + COALESCE_MS - monotonicMs();
  return {
    send: (channel) => {
      unsent.add(channel);
      flushSoon();
    },
    takeTurn: () => {
      const begunAtMs = monotonicMs();
      if (isTaken || timer !== null || sending !== null || msToWait() > 0 || begunAtMs < nextTurnAtMs)
        return null;
      isTaken = true;
      sentAtMs = begunAtMs;
      return {
        end: () => {
          isTaken = false;
          const endedAtMs = monotonicMs();
          nextTurnAtMs = endedAtMs + TURN_REST * (endedAtMs - begunAtMs);
        },
      };
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
