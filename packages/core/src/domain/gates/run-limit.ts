import { runScope } from "../scope.ts";
import type { Gate } from "./gate.ts";

/** A lowered limit evicts nobody: it only keeps the next ones out until fewer than the limit are active. */
export const runLimit: Gate = ({ runId }, view) => {
  if (runId === null) return [];
  const { limit, active } = view.limit(runScope(runId));
  return limit > 0 && active >= limit ? [{ code: "RUN_LIMIT", runId, limit, active }] : [];
};
