/** Ctrl-C as a fact to look at, instead of the end of the process. */

export interface Interrupt {
  readonly happened: () => boolean;
  readonly signal: AbortSignal;
  /** Ends early with an interrupt. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly dispose: () => void;
}

export function onInterrupt(): Interrupt {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  process.once("SIGINT", interrupt);
  return {
    happened: () => controller.signal.aborted,
    signal: controller.signal,
    sleep: async (ms) => {
      if (controller.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          controller.signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.max(0, ms));
        controller.signal.addEventListener("abort", wake);
      });
    },
    dispose: () => void process.off("SIGINT", interrupt),
  };
}
