import { compareVersions } from "../version.ts";
import type { WaitingCause } from "../waiting-cause.ts";
import { continuesAfterLoss, type Gate } from "./gate.ts";

/** Nothing starts while a task with a smaller version is open on one of its resources. */
export const versionOrder: Gate = (candidate, view) => {
  const { version } = candidate;
  if (version === null || continuesAfterLoss(candidate, view)) return [];
  return candidate.resources.flatMap(({ name }): WaitingCause[] => {
    const lowest = view.resource(name).lowestOpenVersion;
    if (lowest === null || compareVersions(lowest.version, version) >= 0) return [];
    return [
      {
        code: "VERSION_ORDER",
        resource: name,
        version,
        blocker: lowest.taskRunId,
        blockerVersion: lowest.version,
      },
    ];
  });
};
