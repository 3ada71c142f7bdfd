/** Whether somebody who should have answered by now is there at all. */

export interface FrozenWatch {
  /** It has said something. */
  readonly heard: () => void;
  /** Asks where this is not done by then. */
  readonly askUnless: (done: Promise<unknown>, lateMs: number) => void;
}

/** Counted in looks, not in time: while our own loop is blocked there are none, and an answer that lies ready is read before the next. */
const LOOK_MS = 1_000;
const SILENT_LOOKS = 5;

export function watchForFrozen(ask: () => void, giveUp: () => void): FrozenWatch {
  let looking: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearInterval(looking);
    looking = undefined;
  };
  const begin = (): void => {
    ask();
    if (looking !== undefined) return;
    let looks = 0;
    looking = setInterval(() => {
      looks += 1;
      if (looks < SILENT_LOOKS) return;
      heard();
      giveUp();
    }, LOOK_MS).unref();
  };
  return {
    heard,
    askUnless: (done, lateMs) => {
      const late = setTimeout(begin, lateMs).unref();
      const forget = (): void => clearTimeout(late);
      done.then(forget, forget);
    },
  };
}
