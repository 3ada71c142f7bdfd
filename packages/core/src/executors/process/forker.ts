/** Who forks for the warden: a small process of its own where the system has Perl, else the warden itself. */

import type { ProcessEnd } from "./running-process.ts";
import type { StartMessage } from "./warden-messages.ts";

export interface Forker {
  /** Rejects where it could not be started. */
  readonly begin: (start: StartMessage, watch: BeginWatch) => Promise<Begun>;
  /** Resolves when it has answered. */
  readonly answers: () => Promise<void>;
  /** What it has not forked by now it must never fork. */
  readonly kill: () => void;
}

interface BeginWatch {
  /** Throws where it must not begin any more. Asked as late as can be. */
  readonly requireWanted: () => void;
  /** It is there, and may hang before it becomes its program: its input may be a pipe to which nobody writes. */
  readonly onForked: (pid: number) => void;
}

export interface Begun {
  readonly pid: number;
  readonly startTime: string | null;
  /** Once it has ended itself; of its group something may be left. */
  readonly exited: Promise<Pick<ProcessEnd, "exitCode" | "signal">>;
}
