/** One connection that listens, and comes back when it breaks. */

import pg from "pg";
import { endClient } from "./end-client.ts";
import { WAKE_CHANNELS, type WakeChannel } from "./notify.ts";

export interface ListenOptions {
  /** A direct connection: a transaction pooler delivers nothing. */
  readonly url: string;
  readonly onWake: (channel: WakeChannel) => void;
  readonly onConnected: () => void;
  /** Told once per loss, however often a new connection fails. */
  readonly onLost?: (error: unknown) => void;
}

export interface Listener {
  stop: () => Promise<void>;
}

/** A half-open connection looks like silence: ask it now and then. */
const ECHO_MS = 15_000;
const ANSWER_MS = 5_000;
const RECONNECT_MS = 1_000;

export function listen(options: ListenOptions): Listener {
  let stopped = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let lost = false;

  const later = (run: () => void, ms: number): void => {
    if (!stopped) timer = setTimeout(run, ms);
  };
  const reconnect = (broken: pg.Client, error: unknown): void => {
    if (client !== broken) return;
    client = null;
    if (!lost) options.onLost?.(error);
    lost = true;
    if (timer !== null) clearTimeout(timer);
    void endClient(broken);
    later(connect, RECONNECT_MS * (0.5 + Math.random()));
  };
  const echo = (listening: pg.Client): void => {
    listening.query("SELECT 1").then(
      () => later(() => echo(listening), ECHO_MS),
      (error: unknown) => reconnect(listening, error),
    );
  };
  const connect = (): void => {
    const fresh = new pg.Client({
      connectionString: options.url,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: "signalbox listener",
    });
    client = fresh;
    fresh.on("error", (error) => reconnect(fresh, error));
    fresh.on("end", () => reconnect(fresh, new Error("The connection has ended")));
    fresh.on("notification", ({ channel }) => {
      const known = WAKE_CHANNELS.find((name) => name === channel);
      if (known !== undefined) options.onWake(known);
    });
    fresh
      .connect()
      .then(async () => await fresh.query(WAKE_CHANNELS.map((name) => `LISTEN ${name}`).join("; ")))
      .then(
        () => {
          lost = false;
          options.onConnected();
          later(() => echo(fresh), ECHO_MS);
        },
        (error: unknown) => reconnect(fresh, error),
      );
  };
  connect();

  return {
    stop: async () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      const last = client;
      client = null;
      if (last !== null) await endClient(last);
    },
  };
}
