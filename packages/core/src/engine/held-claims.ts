/** What an instance has claimed and not yet settled. Reconcile compares it with the database. */

import type { TaskRunId } from "../domain/ids.ts";
import type { ExecutionStoppedError } from "../executors/executor.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Claim } from "../store/task-runs/claim.ts";
import { StopSwitch } from "./stop-switch.ts";

/** How long a slot stays with the line of one resource, while others wait for a slot. */
const TURN_MS = 100;

export interface HeldClaim {
  readonly claim: Claim;
  readonly stop: StopSwitch;
  /** Monotonic time. */
  readonly begunAtMs: number;
  /** Its execution has ended; only the settlement is still to be recorded. */
  ended: boolean;
  /** It ignores its signal. Its settlement does not wait for its end, its slot does. */
  stuck: boolean;
  /** Whether a handle is stored by which others can go on; unsure while the write is under way or its answer was lost. */
  handle: "none" | "unsure" | "kept";
}

export function stopExecution({ stop }: HeldClaim, because: ExecutionStoppedError["because"]): void {
  stop.stop(because);
}

export class HeldClaims {
  readonly #held = new Map<TaskRunId, HeldClaim>();
  /** By the number of the claim statement: how many came with it, and of how many the end is still to be recorded. */
  readonly #batches = new Map<number, { size: number; open: number; readonly turnEndsAtMs: number }>();
  readonly #requests = new Set<number>();
  readonly #slotless = new Set<number>();
  /** Requests without an answer, since it joined: a number for each pass that failed. */
  readonly #unanswered = new Set<number>();
  #lastRequestNo = 0;
  #executing = 0;
  /** Ended, and not recorded yet: RUNNING in the database. */
  #unrecorded = 0;
  #polling = 0;
  #stuck = 0;

  /**
   * Claims that may come with answers that are still on their way count as taken, and so does what has ended until that is
   * recorded: in the database it is RUNNING.
   */
  freeSlots(slots: number): number {
    return this.#requests.size > 0 ? 0 : slots - this.#executing - this.#unrecorded;
  }

  beginRequest(): number {
    this.#lastRequestNo += 1;
    this.#requests.add(this.#lastRequestNo);
    return this.#lastRequestNo;
  }

  /** As `beginRequest`, where what comes with the answer takes no free slot: outside jobs, and who goes on in the slot of another. */
  beginSlotless(): number {
    this.#lastRequestNo += 1;
    this.#slotless.add(this.#lastRequestNo);
    return this.#lastRequestNo;
  }

  /** Its answer has come, and what came with it is held. */
  endRequest(requestNo: number): void {
    this.#requests.delete(requestNo);
    this.#slotless.delete(requestNo);
  }

  /** Nothing of what came with it, if anything, is ever begun here. */
  loseRequest(requestNo: number): void {
    this.endRequest(requestNo);
    this.#unanswered.add(requestNo);
  }

  /** Of one that is not on its way any more: what came with it, if anything, has begun here. */
  wasAnswered(requestNo: number): boolean {
    return requestNo <= this.#lastRequestNo && !this.#unanswered.has(requestNo);
  }

  isOnItsWay(requestNo: number): boolean {
    return this.#requests.has(requestNo) || this.#slotless.has(requestNo);
  }

  /** The turn of its line is that of the one in whose slot it goes on; that of others begins here. */
  add(claim: Claim, turnEndsAtMs?: number): HeldClaim {
    // A failover undid our first claim of it and it came to us again: only the second one counts.
    const former = this.#held.get(claim.taskRunId);
    if (former !== undefined) this.#replace(former);
    const begunAtMs = monotonicMs();
    const held: HeldClaim = {
      claim,
      stop: new StopSwitch(),
      begunAtMs,
      ended: false,
      stuck: false,
      handle: claim.job === null ? "none" : "kept",
    };
    this.#held.set(claim.taskRunId, held);
    this.#countIn(claim.claimNo, turnEndsAtMs ?? begunAtMs + TURN_MS);
    // A look at an outside job takes no slot: an instance that is busy for hours must not keep it waiting.
    if (claim.job === null) this.#executing += 1;
    else this.#polling += 1;
    return held;
  }

  #countIn(claimNo: number, turnEndsAtMs: number): void {
    const batch = this.#batches.get(claimNo);
    if (batch === undefined) {
      this.#batches.set(claimNo, { size: 1, open: 1, turnEndsAtMs });
      return;
    }
    batch.size += 1;
    batch.open += 1;
  }

  /** From here on nobody finds it: what it took up is given back when it ends, or now where it has. */
  #replace(former: HeldClaim): void {
    stopExecution(former, "fence");
    if (former.ended && former.claim.job === null) this.#unrecorded -= 1;
  }

  /** The execution has ended: its slot is free once that is recorded. An execution that ignores its signal keeps it. */
  endExecution(held: HeldClaim): void {
    if (held.ended) return;
    held.ended = true;
    if (held.claim.job === null) {
      this.#executing -= 1;
      if (this.#held.get(held.claim.taskRunId) === held) this.#unrecorded += 1;
    } else this.#polling -= 1;
    if (held.stuck) this.#stuck -= 1;
  }

  markStuck(held: HeldClaim): void {
    if (held.ended || held.stuck) return;
    held.stuck = true;
    this.#stuck += 1;
  }

  /** The settlement is recorded, or was refused. */
  remove({ taskRunId, claimNo }: Pick<Claim, "taskRunId" | "claimNo">): void {
    const held = this.#held.get(taskRunId);
    if (held?.claim.claimNo === claimNo) {
      this.#held.delete(taskRunId);
      if (held.ended && held.claim.job === null) this.#unrecorded -= 1;
    }
    const batch = this.#batches.get(claimNo);
    if (batch === undefined) return;
    batch.open -= 1;
    if (batch.open < 1) this.#batches.delete(claimNo);
  }

  /** Which claim statements have nothing open once these are settled. */
  batchesEndedBy(claims: readonly Pick<Claim, "claimNo">[]): readonly number[] {
    const ending = new Map<number, number>();
    for (const { claimNo } of claims) ending.set(claimNo, (ending.get(claimNo) ?? 0) + 1);
    return [...ending]
      .filter(([claimNo, count]) => (this.#batches.get(claimNo)?.open ?? 0) <= count)
      .map(([no]) => no);
  }

  /** Monotonic time until which the slots of this claim go on with who is next in line. */
  turnEndsAtMs(claimNo: number): number {
    return this.#batches.get(claimNo)?.turnEndsAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** All that came with one claim statement, and nothing else. */
  isWholeBatch(claims: readonly Pick<Claim, "claimNo">[]): boolean {
    const claimNo = claims[0]?.claimNo;
    if (claimNo === undefined || this.#batches.get(claimNo)?.size !== claims.length) return false;
    return claims.every((claim) => claim.claimNo === claimNo);
  }

  get(taskRunId: TaskRunId): HeldClaim | undefined {
    return this.#held.get(taskRunId);
  }

  all(): readonly HeldClaim[] {
    return [...this.#held.values()];
  }

  get executing(): number {
    return this.#executing;
  }

  get polling(): number {
    return this.#polling;
  }

  /** Executions that ignore their signal and have not ended; each still takes up what it took. */
  get stuck(): number {
    return this.#stuck;
  }

  /** Nothing is at work any more but what ignores its signal. */
  get isQuiet(): boolean {
    return this.#executing + this.#polling <= this.#stuck;
  }
}
