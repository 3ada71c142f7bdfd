/** When to stop: a signal, or whoever calls `now`. The second time means at once. */

export interface Quit {
  readonly signal: AbortSignal;
  readonly now: () => void;
  /** What the second time does. */
  onAgain(hurry: () => void): void;
  dispose(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function listenForQuit(): Quit {
  const controller = new AbortController();
  let hurry = (): void => {};
  const now = (): void => {
    if (controller.signal.aborted) hurry();
    else controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, now);
  return {
    signal: controller.signal,
    now,
    onAgain: (given) => {
      hurry = given;
    },
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, now);
    },
  };
}
