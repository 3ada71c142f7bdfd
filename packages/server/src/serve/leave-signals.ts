/** The first signal asks to leave, the second one to be gone at once. */

import { EXIT } from "../cli/exit-code.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

type LeaveSignal = (typeof SIGNALS)[number];

export interface LeaveSignals {
  /** Resolves with the first one. */
  readonly first: Promise<LeaveSignal>;
  dispose(): void;
}

/** `exit` does not come back. */
export function listenForLeave(exit: (exitCode: number) => void): LeaveSignals {
  let come: (signal: LeaveSignal) => void = () => {};
  const first = new Promise<LeaveSignal>((resolve) => {
    come = resolve;
  });
  let asked = false;
  const onSignal = (signal: LeaveSignal): void => {
    if (asked) exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.unexpected);
    asked = true;
    come(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    first,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
