/** Whether a server is to be asked: by what its instance knows of itself, and by how its loops are doing. Pure. */

import type { InstanceHealth } from "@signalbox/core";
import type { LoopState, Readiness } from "../http/routes/probes.ts";
import { loopsAreReady } from "./loop-watch.ts";

export interface ReadinessFacts {
  readonly health: Pick<InstanceHealth, "problems">;
  readonly loops: Readonly<Record<string, LoopState>>;
  /** It was told to end. */
  readonly leaving: boolean;
}

export function judgeReadiness({ health, loops, leaving }: ReadinessFacts): Readiness {
  const { problems } = health;
  if (leaving) return { ready: false, problems: [...new Set([...problems, "DRAINING"])], loops };
  // One that somebody has asked to drain still answers: where it is the only one, it could not be called back otherwise.
  const isHindered = problems.some((problem) => problem !== "DRAINING");
  return { ready: !isHindered && loopsAreReady(loops), problems, loops };
}
