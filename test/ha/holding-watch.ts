/** S24: no RUNNING row of a LIVE instance that the instance does not hold, for longer than two beats. Pure. */

export interface RunningRow {
  readonly taskRunId: string;
  readonly claimNo: number;
  readonly instanceId: string;
  /** When its owner last renewed, as text: a beat is known by its change. */
  readonly beatAt: string;
}

export interface Observation {
  /** RUNNING rows of LIVE instances. */
  readonly running: readonly RunningRow[];
  /** Claim numbers by task run, by the boot id of each instance that answered. Silent ones are missing. */
  readonly holding: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

const BEATS_AT_MOST = 2;

export class HoldingWatch {
  readonly #beatsAtMost: () => number;
  readonly #unheld = new Map<string, { beats: number; beatAt: string }>();
  readonly #violations = new Map<string, string>();
  #compared = 0;

  constructor(slowness: () => number = () => 1) {
    this.#beatsAtMost = () => BEATS_AT_MOST * slowness();
  }

  observe({ running, holding }: Observation): void {
    const seen = new Set<string>();
    for (const row of running) {
      const claims = holding.get(row.instanceId);
      // Silent: nobody knows what it holds. Its lease will tell whether it lives.
      if (claims === undefined) continue;
      this.#compared += 1;
      if (claims[row.taskRunId] === row.claimNo) continue;
      const key = `${row.taskRunId} ${row.claimNo}`;
      seen.add(key);
      this.#count(key, row);
    }
    // Looking counts in beats, not in time: a machine that is slow to renew is as slow to reconcile.
    for (const key of this.#unheld.keys()) if (!seen.has(key)) this.#unheld.delete(key);
  }

  #count(key: string, { taskRunId, claimNo, instanceId, beatAt }: RunningRow): void {
    const before = this.#unheld.get(key) ?? { beats: 0, beatAt };
    const beats = before.beats + (before.beatAt === beatAt ? 0 : 1);
    this.#unheld.set(key, { beats, beatAt });
    if (beats <= this.#beatsAtMost()) return;
    this.#violations.set(
      key,
      `S24: task run ${taskRunId} is RUNNING under claim ${claimNo} of ${instanceId}, which has not held it for ${beats} beats`,
    );
  }

  get violations(): readonly string[] {
    return [...this.#violations.values()];
  }

  /** How many rows were compared with what their owner holds. */
  get compared(): number {
    return this.#compared;
  }
}
