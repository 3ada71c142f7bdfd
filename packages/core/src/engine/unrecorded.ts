/**
 * What is still to be recorded, and what with what: in one transaction one kind of decision, because task runs are locked
 * in the order of their ids, and nothing that would keep the others from being recorded for ever. A part of the settler.
 */

import type { TaskRunId } from "../domain/ids.ts";
import { type Finished, isOf } from "./finished.ts";

/** What goes to the database together. */
export interface Batch {
  readonly finished: readonly Finished[];
  readonly from: "waiting" | "alone" | "refused";
}

const NOTHING: Batch = { finished: [], from: "waiting" };

/** A second transaction begins beside another one for no fewer than this: together they cost less. */
const SECOND_FROM = 50;

export class Unrecorded {
  readonly #lists: Record<Batch["from"], Finished[]> = {
    waiting: [],
    /** One of them was refused, and with it all: each goes by itself. */
    alone: [],
    /** Refused by themselves. They go again when nothing else is left to record. */
    refused: [],
  };
  /** On their way to the database. No two of one task run: who comes second knows by then what became of the first. */
  readonly #underWay = new Set<TaskRunId>();

  add(finished: Finished): void {
    this.#lists.waiting.push(finished);
  }

  /** Beside what is on its way. What was refused goes only when nothing else does. */
  get left(): number {
    const { waiting, alone, refused } = this.#lists;
    return waiting.length + alone.length + (this.#underWay.size > 0 ? 0 : refused.length);
  }

  /** Only what was refused is left. */
  get isRefused(): boolean {
    const { waiting, alone, refused } = this.#lists;
    return refused.length > 0 && waiting.length + alone.length + this.#underWay.size === 0;
  }

  /** For one transaction; to be given back by one of the three below. Empty where nothing is to go now. */
  take(batchSize: number): Batch {
    const batch = this.#next(batchSize);
    for (const { claim } of batch.finished) this.#underWay.add(claim.taskRunId);
    const list = this.#lists[batch.from];
    // Nearly always the first that came.
    if (batch.finished.every((each, index) => each === list[index])) list.splice(0, batch.finished.length);
    else {
      const taken = new Set(batch.finished);
      this.#lists[batch.from] = list.filter((each) => !taken.has(each));
    }
    return batch;
  }

  #next(batchSize: number): Batch {
    const { waiting, alone, refused } = this.#lists;
    const single = alone.find((each) => this.#isFree(each));
    if (single !== undefined) return { finished: [single], from: "alone" };
    const isSecond = this.#underWay.size > 0;
    if (isSecond && waiting.length < SECOND_FROM) return NOTHING;
    const first = waiting.find((each) => this.#isFree(each));
    if (first !== undefined) return { finished: this.#likeFirst(first, batchSize), from: "waiting" };
    return isSecond ? NOTHING : { finished: refused.slice(0, 1), from: "refused" };
  }

  #likeFirst(first: Finished, batchSize: number): readonly Finished[] {
    const finished: Finished[] = [];
    const chosen = new Set<TaskRunId>();
    for (const each of this.#lists.waiting) {
      if (finished.length >= batchSize) break;
      // A claim that was undone by a failover and the one that came after it end apart: a statement knows them by their task run.
      if (!isOf(each, first.decision.kind) || chosen.has(each.claim.taskRunId) || !this.#isFree(each))
        continue;
      chosen.add(each.claim.taskRunId);
      finished.push(each);
    }
    return finished;
  }

  #isFree({ claim }: Finished): boolean {
    return !this.#underWay.has(claim.taskRunId);
  }

  /** They are recorded, or not ours any more. */
  remove({ finished }: Batch): void {
    for (const { claim } of finished) this.#underWay.delete(claim.taskRunId);
  }

  /** These of them are recorded; answers the others. */
  removeFrom(batch: Batch, recorded: ReadonlySet<TaskRunId>): Batch {
    if (recorded.size === 0) return batch;
    this.remove({ ...batch, finished: batch.finished.filter(({ claim }) => recorded.has(claim.taskRunId)) });
    return { ...batch, finished: batch.finished.filter(({ claim }) => !recorded.has(claim.taskRunId)) };
  }

  /** Nobody knows whether they are recorded: they go again. */
  putBack(batch: Batch): void {
    this.remove(batch);
    this.#lists[batch.from].unshift(...batch.finished);
  }

  /** The database refused a row of them. */
  refuse(batch: Batch): void {
    this.remove(batch);
    this.#lists[batch.finished.length === 1 ? "refused" : "alone"].push(...batch.finished);
  }
}
