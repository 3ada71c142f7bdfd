import { isAhead } from "../line.ts";
import type { Resource } from "../resource.ts";
import { compareVersions } from "../version.ts";
import type { WaitingCause } from "../waiting-cause.ts";
import { type Candidate, continuesAfterLoss, type Gate, type LineEntry, type ResourceView } from "./gate.ts";

/**
 * Exclusive: nobody holds the resource. Shared: nobody holds it alone. Both: nobody stands ahead in
 * its line who could not go at the same time. The line is strict, also for those ahead that wait for
 * another resource: otherwise a task that needs two busy resources would never find both free.
 */
export const resourceBusy: Gate = (candidate, view) => {
  const continues = continuesAfterLoss(candidate, view);
  return candidate.resources.flatMap((wanted): readonly WaitingCause[] => {
    const resource = view.resource(wanted.name);
    const cause = heldAgainst(wanted, candidate, resource);
    if (cause !== null) return [cause];
    if (continues) return [];
    return lineAgainst(wanted, candidate, resource);
  });
};

function heldAgainst(wanted: Resource, candidate: Candidate, resource: ResourceView): WaitingCause | null {
  const busy = { code: "RESOURCE_BUSY", resource: wanted.name, mode: wanted.mode } as const;
  if (resource.exclusiveHolder !== null) {
    return { ...busy, because: "held", blockers: [resource.exclusiveHolder], reservedFor: null };
  }
  if (resource.reservedFor !== null && resource.reservedFor !== candidate.taskId) {
    return { ...busy, because: "reserved", blockers: [], reservedFor: resource.reservedFor };
  }
  if (wanted.mode === "exclusive" && resource.sharedCount > 0) {
    return { ...busy, because: "held", blockers: resource.sharedHolders, reservedFor: null };
  }
  return null;
}

function lineAgainst(
  wanted: Resource,
  candidate: Candidate,
  resource: ResourceView,
): readonly WaitingCause[] {
  const first = resource.line.find(
    (entry) =>
      cannotGoTogether(entry, wanted) && isAhead(entry, candidate) && !waitsForVersionOf(entry, candidate),
  );
  const inSight = resource.line.some(({ taskRunId }) => taskRunId === candidate.taskRunId);
  // Beyond the part of the line that is in sight, somebody may stand ahead: join it and be looked at in turn.
  const goesOn = wanted.mode === "shared" ? resource.exclusiveGoesOn : resource.lineGoesOn;
  const unknown = goesOn && !inSight && resource.line.every((entry) => isAhead(entry, candidate));
  if (first === undefined && !unknown) return [];
  return [
    {
      code: "RESOURCE_BUSY",
      resource: wanted.name,
      mode: wanted.mode,
      because: "line",
      blockers: first === undefined ? [] : [first.taskRunId],
      reservedFor: null,
    },
  ];
}

function cannotGoTogether(entry: LineEntry, wanted: Resource): boolean {
  return entry.mode === "exclusive" || wanted.mode === "exclusive";
}

/** Ahead in line, but with a larger version: it cannot go before the candidate has ended, so it is not waited for. */
function waitsForVersionOf(entry: LineEntry, candidate: Candidate): boolean {
  if (entry.version === null || candidate.version === null || entry.priority < 0) return false;
  return compareVersions(candidate.version, entry.version) < 0;
}
