import { type PauseScope, queueScope, resourceScope, runScope } from "../scope.ts";
import type { Candidate, Gate } from "./gate.ts";

export const paused: Gate = (candidate, view) =>
  pausable(candidate).flatMap((scope) => {
    const pause = view.pause(scope);
    return pause === null ? [] : [{ code: "PAUSED" as const, scope, ...pause }];
  });

/** Everything whose pause keeps this one from starting. */
export function pausable({ queue, runId, resources }: Candidate): readonly PauseScope[] {
  return [
    queueScope(queue),
    ...(runId === null ? [] : [runScope(runId)]),
    ...resources.map(({ name }) => resourceScope(name)),
  ];
}
