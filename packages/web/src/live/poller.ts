/** Asks again and again for what the stream does not bring. Quickly while it changes, seldom while it does not. */

export interface PollerDeps {
  /** What to ask for now; empty while the tab is hidden or the stream brings all. */
  readonly topics: () => readonly string[];
  readonly poll: (topic: string) => Promise<unknown>;
  readonly snapshot: (topic: string) => unknown;
}

export interface Poller {
  /** There may be something to ask for. */
  readonly wake: () => void;
}

const FAST_MS = 2_000;
/** While something is open on the screen. */
const OPEN_MS = 4_000;
const IDLE_MS = 30_000;
const OPEN = /"status":"(?:PENDING|AVAILABLE|RUNNING)"/;

export function createPoller({ topics, poll, snapshot }: PollerDeps): Poller {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let restMs = FAST_MS;
  let polling = false;

  const round = async (): Promise<void> => {
    timer = undefined;
    const asked = topics();
    if (asked.length === 0) return;
    polling = true;
    const before = asked.map(snapshot);
    await Promise.allSettled(asked.map(poll));
    polling = false;
    const after = asked.map(snapshot);
    restMs = nextRestMs(restMs, {
      changed: after.some((body, index) => body !== before[index]),
      open: after.some((body) => OPEN.test(JSON.stringify(body) ?? "")),
    });
    schedule(restMs);
  };
  const schedule = (ms: number): void => {
    // Jitter keeps tabs that lost the stream together from asking together.
    timer = setTimeout(() => void round(), ms * (0.9 + Math.random() * 0.2));
  };

  return {
    wake: () => {
      if (polling || timer !== undefined || topics().length === 0) return;
      restMs = FAST_MS;
      schedule(restMs);
    },
  };
}

export function nextRestMs(
  restMs: number,
  seen: { readonly changed: boolean; readonly open: boolean },
): number {
  if (seen.changed) return FAST_MS;
  return Math.min(restMs * 2, seen.open ? OPEN_MS : IDLE_MS);
}
