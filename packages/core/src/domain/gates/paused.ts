import { type PauseScope, queueScope, resourceScope, runScope } from "../scope.ts";
import { type Gate, type Ruled, ruledOf } from "./gate.ts";

export const paused: Gate = (candidate, view) => {
  if (!view.hasPauses) return [];
  return pausable(ruledOf(candidate)).flatMap((scope) => {
    const pause = view.pause(scope);
    return pause === null ? [] : [{ code: "PAUSED" as const, scope, ...pause }];
  });
};

/** Everything whose pause keeps these from starting. */
export function pausable({ queues, runIds, resources }: Ruled): readonly PauseScope[] {
  return [
    ...Array.from(queues, queueScope),
    ...Array.from(runIds, runScope),
    ...Array.from(resources, resourceScope),
  ];
}
