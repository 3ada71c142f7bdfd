import type { OperationId } from "../domain/ids.ts";
import type { Transaction } from "../store/database.ts";
import { goesThroughWorkSets, lookOn, type OperationLook } from "../store/operations/look.ts";
import type { TakenOperation } from "../store/operations/operation.ts";

/** So many are found by one look at the work sets. */
const AHEAD = 5_000;
/** Of more operations at once, what was found for the first is found again. */
const REMEMBERED = 8;

/**
 * What a look has found beyond one bite. A look at the work sets reads all of them, so it is not done for each bite; what it
 * says may be old by the time its turn comes, which whoever acts on it finds out.
 */
export class LookAhead {
  readonly #found = new Map<OperationId, OperationLook>();

  /** Up to `limit` task runs that come after the place that the operation has reached. */
  async next(tx: Transaction, taken: TakenOperation, limit: number): Promise<OperationLook> {
    const { operationId, reachedId: afterId } = taken;
    if (!goesThroughWorkSets(taken)) return await lookOn(tx, { ...taken, afterId, limit });
    // Another instance may have gone on with it meanwhile.
    const known = behind(this.#found.get(operationId), afterId);
    const look = known ?? (await lookOn(tx, { ...taken, afterId, limit: AHEAD }));
    if (known === null) this.#remember(operationId, look);
    const met = look.met.slice(0, limit);
    const isCut = met.length < look.met.length;
    return { ...look, met, next: isCut ? (met.at(-1)?.taskRunId ?? null) : look.next };
  }

  /** What it found is not all any more. */
  forget(operationId: OperationId): void {
    this.#found.delete(operationId);
  }

  #remember(operationId: OperationId, look: OperationLook): void {
    this.#found.delete(operationId);
    this.#found.set(operationId, look);
    const [oldest] = this.#found.keys();
    if (oldest !== undefined && this.#found.size > REMEMBERED) this.#found.delete(oldest);
  }
}

/** Null: nothing of it is left. */
function behind(look: OperationLook | undefined, afterId: string): OperationLook | null {
  const met = look?.met.filter(({ taskRunId }) => taskRunId > afterId) ?? [];
  return look === undefined || met.length === 0 ? null : { ...look, met };
}
