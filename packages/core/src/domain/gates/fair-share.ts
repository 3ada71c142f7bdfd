import type { Gate } from "./gate.ts";

/**
 * A run with ten thousand tasks must not stand in front of a run with one: of each only a share is AVAILABLE, the rest
 * waits here until some of it was claimed.
 */
export const fairShare: Gate = ({ runId }, view) => {
  if (runId === null) return [];
  const available = view.availableOf(runId);
  const { fairShare: share } = view;
  return available >= share ? [{ code: "FAIR_SHARE", runId, share, available }] : [];
};
