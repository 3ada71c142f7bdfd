import { ExecutionStoppedError } from "../executors/executor.ts";

/** Tells an execution to stop. The signal that it can look at is made when it asks for it: most never do. */
export class StopSwitch {
  #controller: AbortController | null = null;
  #reason: ExecutionStoppedError | null = null;
  #onStop: (() => void) | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Null: it was not told to stop. */
  get because(): ExecutionStoppedError["because"] | null {
    return this.#reason === null ? null : this.#reason.because;
  }

  /** The first reason stays. */
  stop(because: ExecutionStoppedError["because"]): void {
    if (this.#reason !== null) return;
    this.#reason = new ExecutionStoppedError(because);
    this.#onStop?.();
    this.#controller?.abort(this.#reason);
  }

  /** At once, where it was told already. One listener: whoever waits for its end. */
  onStop(act: () => void): void {
    if (this.#reason === null) this.#onStop = act;
    else act();
  }
}
