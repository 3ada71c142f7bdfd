/**
 * L4 and S23: nobody waits for long when every gate is open. Whoever does was forgotten: a wake was lost, and only
 * the slow sweep will find it. Pure.
 */

export interface Waiter {
  readonly taskRunId: string;
  /** Whether any gate blocks it now, by what `explain` says. */
  readonly blocked: boolean;
}

export class OpenGateWatch {
  readonly #patienceMs: () => number;
  readonly #openSinceMs = new Map<string, number>();
  readonly #violations = new Map<string, string>();

  constructor(patienceMs: number, slowness: () => number = () => 1) {
    this.#patienceMs = () => patienceMs * slowness();
  }

  observe(waiters: readonly Waiter[], nowMs: number): void {
    const open = new Set(waiters.filter(({ blocked }) => !blocked).map(({ taskRunId }) => taskRunId));
    for (const taskRunId of this.#openSinceMs.keys()) {
      if (!open.has(taskRunId)) this.#openSinceMs.delete(taskRunId);
    }
    for (const taskRunId of open) {
      const sinceMs = this.#openSinceMs.get(taskRunId) ?? nowMs;
      this.#openSinceMs.set(taskRunId, sinceMs);
      const openMs = Math.round(nowMs - sinceMs);
      if (openMs < this.#patienceMs()) continue;
      this.#violations.set(
        taskRunId,
        `L4: task run ${taskRunId} waits, and every gate has been open for ${openMs} ms`,
      );
    }
  }

  get violations(): readonly string[] {
    return [...this.#violations.values()];
  }
}
