/** Stores what executions print, many logs at once. What cannot be stored is kept within bounds and tried again. */

import { inspect } from "node:util";
import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { LOG_HEAD_BYTES, LOG_STREAMS, type LogStream } from "../domain/log.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Pool } from "../store/database.ts";
import { type LogWrite, writeLogs } from "../store/logs/write.ts";
import type { Claim } from "../store/task-runs/claim.ts";
import { LogBacklog } from "./log-backlog.ts";
import type { Emit } from "./telemetry.ts";

interface TaskRunLog {
  readonly write: (content: string | Uint8Array, stream?: LogStream) => void;
  /** Resolves when everything is stored, or cannot be: the claim is over, or the database was away for too long. */
  readonly end: () => Promise<void>;
}

export interface LogWriter {
  readonly open: (claim: Claim, claimedBy: InstanceId) => TaskRunLog;
}

interface OpenLog extends Pick<LogWrite, "taskRunId" | "claimNo" | "claimedBy"> {
  readonly backlog: LogBacklog;
  dueAtMs: number;
  /** Set when nothing more will be written. */
  ending: { readonly resolve: () => void; readonly giveUpAtMs: number } | null;
}

/** What is printed is stored this much later, at most … */
const FLUSH_MS = 200;
/** … and so much later where much is printed, most of which will be left out. */
const FLUSH_LONG_MS = 1_000;
const RETRY_MS = 500;
/** An outcome waits this long for its log when the database is away. */
const END_PATIENCE_MS = 10_000;
/** Logs of one statement. */
const BATCH = 20;

export function createLogWriter(deps: LogWriterDeps): LogWriter {
  const storage = new LogStorage(deps);
  return {
    open: ({ taskRunId, claimNo }, claimedBy) => {
      let log: OpenLog | null = null;
      let ended: Promise<void> | null = null;
      return {
        write: (content, stream = "task") => {
          if (log !== null && log.ending !== null) return;
          log ??= { taskRunId, claimNo, claimedBy, backlog: new LogBacklog(), dueAtMs: 0, ending: null };
          log.backlog.write(LOG_STREAMS.includes(stream) ? stream : "task", toBytes(content));
          storage.storeSoon(log);
        },
        // One that ignores its signal is ended twice: when it is settled, and when it ends.
        end: async () => {
          if (log !== null) await (ended ??= storage.storeRest(log));
        },
      };
    },
  };
}

interface LogWriterDeps {
  readonly pool: Pool;
  readonly emit: Emit;
  readonly onStored: () => void;
}

/** All logs of an instance that have something to store. */
class LogStorage {
  readonly #deps: LogWriterDeps;
  readonly #unstored = new Set<OpenLog>();
  #timer: NodeJS.Timeout | null = null;
  #isStoring = false;

  constructor(deps: LogWriterDeps) {
    this.#deps = deps;
  }

  storeSoon(log: OpenLog): void {
    if (this.#unstored.has(log)) return;
    log.dueAtMs = nextDue(log);
    this.#unstored.add(log);
    this.#schedule();
  }

  async storeRest(log: OpenLog): Promise<void> {
    if (!this.#unstored.has(log) && !log.backlog.hasHalfCharacter) return;
    await new Promise<void>((resolve) => {
      log.ending = { resolve, giveUpAtMs: monotonicMs() + END_PATIENCE_MS };
      log.dueAtMs = monotonicMs();
      this.#unstored.add(log);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isStoring || this.#unstored.size === 0) return;
    const dueAtMs = Math.min(...[...this.#unstored].map((log) => log.dueAtMs));
    this.#timer = setTimeout(() => void this.#storeDue(), Math.max(0, dueAtMs - monotonicMs()));
  }

  async #storeDue(): Promise<void> {
    this.#isStoring = true;
    const nowMs = monotonicMs();
    const due = [...this.#unstored].filter(({ dueAtMs }) => dueAtMs <= nowMs).slice(0, BATCH);
    try {
      const stored = await store(this.#deps.pool, due);
      for (const log of due) this.#afterStoring(log, stored.has(log.taskRunId));
      if (stored.size > 0) this.#deps.onStored();
    } catch (error) {
      this.#deps.emit({ type: "loop.failed", loop: "log writer", error });
      for (const log of due) this.#tryAgain(log);
    } finally {
      this.#isStoring = false;
      this.#schedule();
    }
  }

  #afterStoring(log: OpenLog, isStored: boolean): void {
    if (isStored) log.backlog.stored();
    else log.backlog.clear(); // Not ours any more: what it prints is of no use to anybody.
    if (log.backlog.isEmpty) this.#forget(log);
    else log.dueAtMs = log.ending === null ? nextDue(log) : monotonicMs();
  }

  #tryAgain(log: OpenLog): void {
    log.dueAtMs = monotonicMs() + RETRY_MS;
    if (log.ending !== null && monotonicMs() >= log.ending.giveUpAtMs) this.#forget(log);
  }

  #forget(log: OpenLog): void {
    this.#unstored.delete(log);
    log.ending?.resolve();
  }
}

async function store(pool: Pool, due: readonly OpenLog[]): Promise<ReadonlySet<TaskRunId>> {
  if (due.length === 0) return new Set();
  const writes = due.map(({ taskRunId, claimNo, claimedBy, backlog, ending }): LogWrite => {
    const chunks = backlog.take(ending !== null);
    return { taskRunId, claimNo, claimedBy, chunks };
  });
  return await pool.transaction(async (tx) => await writeLogs(tx, writes));
}

function nextDue({ backlog }: OpenLog): number {
  return monotonicMs() + (backlog.printed > LOG_HEAD_BYTES ? FLUSH_LONG_MS : FLUSH_MS);
}

/** It is promised never to throw: whatever a task hands over by mistake is shown as it is. */
function toBytes(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return asLine(typeof content === "string" ? content : inspect(content));
}

function asLine(text: string): Buffer {
  return Buffer.from(text.endsWith("\n") ? text : `${text}\n`);
}
