/** Whether somebody who should have answered by now is there at all. */

/** How long who is late is waited for. */
export interface Patience {
  /** Until it has begun; on a busy machine that takes a while. */
  readonly beginMs: number;
  /** What should be done by then is late: is anybody there at all? */
  readonly lateMs: number;
  /** Between two looks for an answer. */
  readonly lookMs: number;
}

export const PATIENCE: Patience = { beginMs: 30_000, lateMs: 2_000, lookMs: 1_000 };

export interface FrozenWatch {
  /** It has said something. */
  readonly heard: () => void;
  /** Asks where this is late, counted from when it should be done. */
  readonly askUnless: (done: Promise<unknown>, dueInMs: number) => void;
  /** It has gone. Nobody is asked or given up any more: by now its id may be somebody else's. */
  readonly end: () => void;
}

/** Counted in looks, not in time: while our own loop is blocked there are none, and an answer that lies ready is read before the next. */
const SILENT_LOOKS = 5;

export function watchForFrozen(
  ask: () => void,
  giveUp: () => void,
  { lateMs, lookMs }: Omit<Patience, "beginMs">,
): FrozenWatch {
  let looking: NodeJS.Timeout | undefined;
  let isOver = false;
  const heard = (): void => {
    clearInterval(looking);
    looking = undefined;
  };
  const begin = (): void => {
    if (isOver) return;
    ask();
    if (looking !== undefined) return;
    let looks = 0;
    looking = setInterval(() => {
      looks += 1;
      if (looks < SILENT_LOOKS) return;
      heard();
      giveUp();
    }, lookMs).unref();
  };
  return {
    heard,
    askUnless: (done, dueInMs) => {
      const late = setTimeout(begin, dueInMs + lateMs).unref();
      const forget = (): void => clearTimeout(late);
      done.then(forget, forget);
    },
    end: () => {
      isOver = true;
      heard();
    },
  };
}
