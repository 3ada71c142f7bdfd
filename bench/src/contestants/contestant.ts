/** One who takes part: how its jobs get in, how a process works on them, and what is left in its tables. */

/** One task of a load. `n` counts from 0: by it every task is known to have run exactly once. */
export interface LoadTask {
  readonly n: number;
  readonly resource?: string;
  readonly version?: string;
  readonly key?: string;
  /** The number of its run. */
  readonly run?: number;
}

export interface Load {
  readonly tasks: readonly LoadTask[];
  /** Of each run, and of each key. */
  readonly runLimit?: number;
  readonly keyLimit?: number;
}

export interface WorkOptions {
  readonly url: string;
  readonly concurrency: number;
  /** How many there are. */
  readonly tasks: number;
  /** How long each handler takes after that call, on average: from half to one and a half of it. 0: no time at all. */
  readonly restMs: number;
  /** Called by every handler, first thing. */
  readonly onTask: (n: number) => void;
  /** Called by every handler, last thing, also where it was told to end. */
  readonly onEnd: (n: number) => void;
  /** A process runs, so long after its task was claimed. */
  readonly onStarted: (ms: number) => void;
  /** Something that makes the round void. */
  readonly onFault: (what: string) => void;
}

export interface Worker {
  /** Ends what is at work, and every connection. */
  readonly stop: () => Promise<void>;
}

export interface Enqueuer {
  /** Many at once, as its documentation recommends. */
  readonly addMany: (tasks: readonly LoadTask[]) => Promise<void>;
  readonly addOne: (task: LoadTask) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** Its schema, in a database of its own. */
  readonly install: (url: string) => Promise<void>;
  readonly openEnqueuer: (url: string) => Promise<Enqueuer>;
  readonly work: (options: WorkOptions) => Promise<Worker>;
  /** SQL that counts what has not ended yet. */
  readonly leftSql: string;
  /** Its rows say who had claimed them, and from when to when: ours do. */
  readonly keepsStays?: boolean;
  /** Only where it can hold these: the whole load, with its gates. */
  readonly enqueueLoad?: (url: string, load: Load) => Promise<void>;
}
