/** Ends a server as gently as it lets us: sessions cut off and data in order, else at once, else by force. */
import { setTimeout as delay } from "node:timers/promises";

export interface EndingServer {
  signal(name: NodeJS.Signals): void;
  hasEnded(): boolean | Promise<boolean>;
}

const STEPS = [
  { signal: "SIGINT", patienceMs: 15_000 },
  { signal: "SIGQUIT", patienceMs: 5_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;
const LOOK_AGAIN_MS = 10;

/** Resolves to whether it has ended. At once where it had before. */
export async function shutDown(server: EndingServer): Promise<boolean> {
  for (const { signal, patienceMs } of STEPS) {
    if (await server.hasEnded()) return true;
    server.signal(signal);
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      if (await server.hasEnded()) return true;
      await delay(LOOK_AGAIN_MS);
    }
  }
  return server.hasEnded();
}
