/**
 * What is still to be recorded, and what with what: in one transaction one kind of decision, because task runs are locked
 * in the order of their ids, and nothing that would keep the others from being recorded for ever. A part of the settler.
 */

import type { TaskRunId } from "../domain/ids.ts";
import { type Finished, isOf } from "./finished.ts";

export class Unrecorded {
  #waiting: Finished[] = [];
  /** One of them was refused, and with it all: each goes by itself. */
  #alone: Finished[] = [];
  /** Refused by themselves. They go again when nothing else is left to record. */
  #refused: Finished[] = [];

  add(finished: Finished): void {
    this.#waiting.push(finished);
  }

  get left(): number {
    return this.#waiting.length + this.#alone.length + this.#refused.length;
  }

  /** Only what was refused is left. */
  get isRefused(): boolean {
    return this.#refused.length > 0 && this.left === this.#refused.length;
  }

  /** What is to be recorded by the next transaction. */
  next(batchSize: number): readonly Finished[] {
    if (this.#alone.length > 0) return this.#alone.slice(0, 1);
    const [first] = this.#waiting;
    if (first === undefined) return this.#refused.slice(0, 1);
    const batch: Finished[] = [];
    const chosen = new Set<TaskRunId>();
    for (const each of this.#waiting) {
      if (batch.length >= batchSize) break;
      // A claim that was undone by a failover and the one that came after it end apart: a statement knows them by their task run.
      if (!isOf(each, first.decision.kind) || chosen.has(each.claim.taskRunId)) continue;
      chosen.add(each.claim.taskRunId);
      batch.push(each);
    }
    return batch;
  }

  /** They are recorded, or not ours any more. */
  remove(batch: readonly Finished[]): void {
    // Nearly always the first that came.
    if (batch.every((each, index) => each === this.#waiting[index])) {
      this.#waiting = this.#waiting.slice(batch.length);
      return;
    }
    const gone = new Set(batch);
    const stays = (each: Finished): boolean => !gone.has(each);
    this.#waiting = this.#waiting.filter(stays);
    this.#alone = this.#alone.filter(stays);
    this.#refused = this.#refused.filter(stays);
  }

  /** The database refused a row of them. */
  refuse(batch: readonly Finished[]): void {
    this.remove(batch);
    (batch.length === 1 ? this.#refused : this.#alone).push(...batch);
  }
}
