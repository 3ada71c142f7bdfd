/**
 * The instance's side of the warden: started with the first process, asked for every further one. If the warden is
 * lost, its groups are ended from here and the next process gets a new warden.
 */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Patience } from "./frozen-watch.ts";
import { guardOutput } from "./guard-output.ts";
import { checkGrace } from "./process-input.ts";
import { checkProcessSpec, refuseArgument } from "./process-spec.ts";
import {
  type LeaseSource,
  type ProcessDeadline,
  type ProcessEnd,
  type ProcessEvent,
  type ProcessHost,
  type ProcessSpec,
  type RunningProcess,
  WardenLostError,
} from "./running-process.ts";
import { openWarden, type Warden } from "./warden-client.ts";
import { makeWardenFolder } from "./warden-folder.ts";

export interface Processes {
  readonly of: (terms: ProcessTerms) => ExecutionProcesses;
  /** Ends what still runs. Resolves when the warden has gone, or after 10 s. */
  readonly close: () => Promise<void>;
}

/** Under which one execution has its processes. */
export interface ProcessTerms {
  readonly lease: LeaseSource;
  /** Null: until the lease ends. */
  readonly deadline: ProcessDeadline | null;
  /** One of them has ended, or may have, and not by its own doing. Told before whoever waits for its end goes on. */
  readonly onEnded: (because: NonNullable<ProcessEnd["because"]>) => void;
  readonly tell: (event: ProcessEvent) => void;
}

export interface ExecutionProcesses extends ProcessHost {
  /** Ends what the execution has left behind, and starts nothing more. Resolves when nothing of it is left. */
  readonly endAll: () => Promise<void>;
}

/** From TERM to KILL, for what outlived the execution that started it. */
export const LEFT_BEHIND_GRACE_MS = 1_000;

export function createProcesses(patience?: Patience, perl?: string): Processes {
  let current: Promise<Warden> | null = null;
  let isClosed = false;
  const begin = (): Promise<Warden> => {
    const forget = (): void => {
      if (current === opening) current = null;
    };
    const opening: Promise<Warden> = makeWardenFolder().then(
      async (folder) => await openWarden(folder, forget, patience, perl),
    );
    opening.catch(forget);
    return opening;
  };
  const open = async (): Promise<Warden> => {
    if (isClosed) throw new Error("The instance has stopped");
    current ??= begin();
    const asked = current;
    const warden = await asked;
    if (existsSync(warden.folder)) return warden;
    // Somebody has tidied up: without its folder it can start nothing more.
    if (current === asked) {
      current = null;
      warden.retire();
    }
    return await open();
  };
  return {
    of: (terms) => forOneExecution(open, terms),
    close: async () => {
      isClosed = true;
      const last = await current?.catch(() => null);
      await last?.close();
    },
  };
}

function forOneExecution(open: () => Promise<Warden>, terms: ProcessTerms): ExecutionProcesses {
  const running = new Map<string, { readonly warden: Warden; readonly child: Promise<RunningProcess> }>();
  let isOver = false;
  /** In whose folder it has its own. */
  let home: Warden | null = null;
  return {
    makeFolder: async () => {
      home = await open();
      return await mkdtemp(join(home.folder, "task-"));
    },
    start: async (given) => {
      const spec = checkProcessSpec(given);
      const warden = await open();
      if (isOver) throw new Error("The execution is over");
      if (home !== null && home !== warden) {
        // Its files went with that one: it would begin without its input.
        terms.onEnded("warden_lost");
        throw new WardenLostError();
      }
      const id = randomUUID();
      const child = startUnder(terms, warden, { id, spec });
      running.set(id, { warden, child });
      const forget = (): boolean => running.delete(id);
      // Waited for here in any case: an end that nobody asks for must not be a rejection that nobody handles.
      child.then(async ({ ended }) => await ended).then(forget, forget);
      return await child;
    },
    endAll: async () => {
      isOver = true;
      await Promise.allSettled(
        [...running].map(async ([id, { warden, child }]) => {
          warden.stop(id, LEFT_BEHIND_GRACE_MS);
          const { stop, ended } = await child;
          // Once more where it has begun: from here on it is also noticed when the warden is frozen.
          stop(LEFT_BEHIND_GRACE_MS);
          await ended;
        }),
      );
    },
  };
}

async function startUnder(
  { lease, deadline, onEnded, tell }: ProcessTerms,
  warden: Warden,
  { id, spec }: { readonly id: string; readonly spec: ProcessSpec },
): Promise<RunningProcess> {
  lease.reportTo(warden.beatSocket);
  const { life, leaseMs } = lease;
  const output = guardOutput(spec.onOutput, () => child.stop(spec.graceMs));
  const guarded = { ...spec, onOutput: output.onOutput };
  const child = await warden
    .start(id, guarded, {
      lease: { life, leaseMs, renewedAtMs: lease.renewedAtMs() },
      deadline: deadline && { atMs: deadline.atMs, graceMs: Math.min(spec.graceMs, deadline.maxGraceMs) },
    })
    .catch((error: unknown) => {
      if (error instanceof WardenLostError) onEnded("warden_lost");
      throw error;
    });
  const { pid, startTime } = child;
  tell({ type: "process.started", pid, startTime });
  const ended = child.ended.then((end) => {
    tell({ type: "process.ended", pid, startTime, ...end });
    if (end.because !== null) onEnded(end.because);
    output.rethrow();
    return end;
  });
  return { ...child, ended, stop: (graceMs) => child.stop(checkGrace(graceMs, refuseArgument)) };
}
