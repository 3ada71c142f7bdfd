/**
 * When there may be something new to look at: the server's stream says so. Where it cannot be followed, a look every
 * now and then does as well.
 */

import { type Client, ProblemError } from "@signalbox/contract";

export interface NewsOf {
  readonly client: Pick<Client, "watch">;
  /** Paths of GET routes without `/api/v1/`. */
  readonly topics: readonly string[];
}

export interface News {
  /** Resolves when something has changed since the last call, and at the latest after that long. Ends early with `signal`. */
  readonly next: (atMostMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface NewsWish {
  /** How often to look where nothing is told. */
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

/** What is told is also how long ago things were, which nobody is told of. */
const LOOK_ANYWAY_MS = 5_000;
/** Several topics change at the same moment. */
const TOGETHER_MS = 100;

/** Nothing is told: it looks every `intervalMs`. */
const NOBODY: NewsOf["client"] = { watch: async function* () {} };

export function followNews(of: NewsOf | null, { intervalMs, signal }: NewsWish): News {
  const { client, topics } = of ?? { client: NOBODY, topics: [] };
  const closing = new AbortController();
  const over = AbortSignal.any([signal, closing.signal]);
  let isLive = false;
  let isNew = false;
  let wake = (): void => {};

  const follow = async (): Promise<void> => {
    for await (const event of client.watch(topics, { signal: over })) {
      isLive = event.kind !== "trouble";
      isNew ||= event.kind === "change";
      if (isNew) wake();
    }
  };
  const following = keepFollowing(follow, intervalMs, over, () => {
    isLive = false;
  });

  return {
    next: async (atMostMs) => {
      if (!isNew)
        await sleep(Math.min(atMostMs, isLive ? LOOK_ANYWAY_MS : intervalMs), over, (act) => (wake = act));
      if (isNew) await sleep(Math.min(atMostMs, TOGETHER_MS), over);
      isNew = false;
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}

/** Opens the stream again whenever it ends; not where the server says that it cannot be. Never rejects. */
async function keepFollowing(
  follow: () => Promise<void>,
  restMs: number,
  over: AbortSignal,
  onEnd: () => void,
): Promise<void> {
  while (!over.aborted) {
    try {
      await follow();
    } catch (error) {
      // An older server, or a topic that it does not know: to look is enough. What is wrong is said by that.
      if (error instanceof ProblemError && error.problem.status < 500) return;
    } finally {
      onEnd();
    }
    await sleep(restMs, over);
  }
}

async function sleep(
  ms: number,
  over: AbortSignal,
  whenWoken: (wake: () => void) => void = () => {},
): Promise<void> {
  if (over.aborted) return;
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      over.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.max(0, ms));
    over.addEventListener("abort", wake);
    whenWoken(wake);
  });
}

/** A list with what it is filtered by, as a topic. */
export function topicOf(path: string, query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return `${path}?${new URLSearchParams(pairs).toString()}`;
}
