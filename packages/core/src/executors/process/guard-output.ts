import type { ProcessSpec } from "./running-process.ts";

type OnOutput = ProcessSpec["onOutput"];

export interface GuardedOutput {
  readonly onOutput: OnOutput;
  /** Throws what the caller's function threw first. */
  readonly rethrow: () => void;
}

/**
 * A caller's `onOutput` is called by an event of a socket, where nobody catches: what it throws would end the instance, with
 * all that runs in it. It is kept for whoever waits for the end of the process. An async one may be given too; after a failure neither is called again.
 */
export function guardOutput(onOutput: OnOutput, onFailed: () => void): GuardedOutput {
  let failure: { readonly error: unknown } | null = null;
  const fail = (error: unknown): void => {
    if (failure !== null) return;
    failure = { error };
    onFailed();
  };
  return {
    onOutput: (stream, bytes) => {
      if (failure === null) new Promise((resolve) => resolve(onOutput(stream, bytes))).catch(fail);
    },
    rethrow: () => {
      if (failure !== null) throw failure.error;
    },
  };
}
