import { compareVersions } from "../version.ts";
import type { WaitingCause } from "../waiting-cause.ts";
import { continuesAfterLoss, type Gate } from "./gate.ts";

/**
 * Nothing starts below a version that is DONE on one of its resources. This gate never opens again: whoever stands at
 * it is failed. One that was begun before, and lost, goes on.
 */
export const outOfOrder: Gate = (candidate, view) => {
  const { version } = candidate;
  if (version === null || candidate.outOfOrder || continuesAfterLoss(candidate, view)) return [];
  return candidate.resources.flatMap(({ name }): WaitingCause[] => {
    const { doneVersion } = view.resource(name);
    if (doneVersion === null || compareVersions(version, doneVersion) >= 0) return [];
    return [{ code: "OUT_OF_ORDER", resource: name, version, doneVersion }];
  });
};
