/** What a process is to those who start one. Who watches over it is `warden.ts`. */

/** What the warden must know of a lease to end processes in time, and how it hears of renewals. */
export interface LeaseSource {
  /** Names the lease: the boot id. */
  readonly life: string;
  readonly leaseMs: number;
  /** Monotonic time before the last good renewal was sent. */
  readonly renewedAtMs: () => number;
  /** From now on every good renewal is told to this socket, also while the main loop is blocked. */
  readonly reportTo: (socketPath: string) => void;
}

/** Until when an execution may have processes at work. The warden keeps it: a blocked main loop could tell them nothing. */
export interface ProcessDeadline {
  /** Monotonic time. */
  readonly atMs: number;
  /** From TERM to KILL, at most. */
  readonly maxGraceMs: number;
}

/** A process to start. */
export interface ProcessSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. `SIGNALBOX_PROCESS_ID`, the id of this start, is added. */
  readonly env: Readonly<Record<string, string>>;
  /** A file to read standard input from. Default: nothing. */
  readonly stdinFile?: string;
  /** From TERM to KILL, for whatever of the group is left when its first process has ended. */
  readonly graceMs: number;
  /**
   * Called with what it prints, not before `start` has resolved. What it answers is not waited for. When it throws or rejects,
   * it is not called again, the group is stopped with its grace, and `ended` rejects with that.
   */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The lease or the time to run was over, or the warden was lost: not the process's own doing. */
  readonly because: "lease" | "run_timeout" | "warden_lost" | null;
  /** It was told to end before it did. What it was told afterwards did not reach it. */
  readonly told: boolean;
}

/**
 * The warden is gone, and with it the knowledge whether what it was asked to start has begun. Nothing of it is left, where the
 * system shows processes.
 */
export class WardenLostError extends Error {
  override readonly name = "WardenLostError";

  constructor() {
    super("The warden was lost");
  }
}

/** A process that was started, with its whole group. */
export interface RunningProcess {
  /** Also the id of its process group. */
  readonly pid: number;
  /** In ticks since the machine was started, where the system tells (Linux): with the pid it names one process for ever. */
  readonly startTime: string | null;
  /** Settled when nothing of its process group is left. Rejects only with what `onOutput` threw. */
  readonly ended: Promise<ProcessEnd>;
  /**
   * TERM to the whole group, KILL after the grace, at most 3600000 ms; at the latest when it has run for too long, and
   * shortly before the lease ends.
   */
  readonly stop: (graceMs: number) => void;
}

/** What becomes of a process, for whoever records it. */
export type ProcessEvent = Pick<RunningProcess, "pid" | "startTime"> &
  ({ readonly type: "process.started" } | ({ readonly type: "process.ended" } & ProcessEnd));

/** Starts processes that do not outlive the lease of their instance. */
export interface ProcessHost {
  /**
   * A folder that only this user can read. Remove it when done; when the instance is killed it goes by itself, and so it
   * does when the warden is lost: then nothing more is started.
   */
  readonly makeFolder: () => Promise<string>;
  /** Rejects with INVALID_ARGUMENT when the spec is none, and with what the system said when the process could not be started. When the warden was lost, the signal is aborted. */
  readonly start: (spec: ProcessSpec) => Promise<RunningProcess>;
}
