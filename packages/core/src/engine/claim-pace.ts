/**
 * What the claims of an instance say about the next one: whether it is the short one, and whether it is worth while. A part of
 * the claimer, without I/O.
 */

/** More than these are chosen from, and answered, by the statement for many. */
const FEW = 20;

export class ClaimPace {
  #isIdle = true;
  #tookAll = false;

  /** How many the short statement is asked for; null: the other one is to be used. */
  few(wanted: number): number | null {
    return this.#isIdle ? Math.min(wanted, FEW) : null;
  }

  /** From here on, until an answer says something else, there may be more. */
  begin(): void {
    this.#tookAll = false;
  }

  gotFew({
    wanted,
    seen,
    got,
  }: {
    readonly wanted: number;
    readonly seen: number;
    readonly got: number;
  }): void {
    this.#isIdle = seen <= wanted;
    this.#tookAll = seen === got;
  }

  gotMany({ wanted, got }: { readonly wanted: number; readonly got: number }): void {
    this.#isIdle = got < wanted && got <= FEW;
  }

  /** A look found nothing that could be claimed. */
  foundNothing(): void {
    this.#tookAll = true;
  }

  /**
   * Nothing was left when the last claim was made. Whoever brings something has told since, or a poll finds it: a slot that
   * becomes free is no reason to look.
   */
  get tookAll(): boolean {
    return this.#tookAll;
  }
}
