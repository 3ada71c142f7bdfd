import { fairShareOf } from "../../domain/fair-share.ts";
import { asRunId, type RunId } from "../../domain/ids.ts";
import type { ParkedFront } from "../../domain/promotion-wakes.ts";
import { limitScopeAt, type Parking } from "../../domain/waiting-cause.ts";
import type { Transaction } from "../database.ts";
import { countAvailable, loadLimits } from "../holds/limits.ts";
import { LINE_DEPTH } from "../holds/resources.ts";
import { loadServed } from "../rules/load.ts";
import { findParked, findParkedAtResources, findParkedAtVersions } from "./parked.ts";

/** Those parked where something may have opened: the front of each, as far as it can be let go. */
export async function findFronts(
  tx: Transaction,
  woken: readonly Parking[],
  batchSize: number,
): Promise<readonly ParkedFront[]> {
  const keysAt = (gate: Parking["blockedOn"]): readonly string[] =>
    woken.filter(({ blockedOn }) => blockedOn === gate).map(({ blockedKey }) => blockedKey);
  const elsewhere = woken.filter(
    ({ blockedOn }) => blockedOn !== "VERSION_ORDER" && blockedOn !== "RESOURCE_BUSY",
  );
  const [limits, shares] = await Promise.all([
    loadLimits(
      tx,
      elsewhere.flatMap((parking) => limitScopeAt(parking) ?? []),
      0,
    ),
    roomInShares(tx, keysAt("FAIR_SHARE").map(asRunId)),
  ]);
  const depthOf = (parking: Parking): number => {
    // At least one: a claim that commits at this moment wakes nobody, so somebody must find out when to look again.
    if (parking.blockedOn === "FAIR_SHARE")
      return Math.max(1, 2 * (shares.get(asRunId(parking.blockedKey)) ?? 0));
    const scope = limitScopeAt(parking);
    const limit = scope === null ? undefined : limits.get(scope);
    if (limit === undefined || limit.limit === 0) return batchSize;
    // Twice as many as have room: some of those that find a slot are held up by a resource.
    return 2 * Math.max(0, limit.limit - limit.active);
  };
  const deep = elsewhere.map((parking) => ({ ...parking, depth: Math.min(batchSize, depthOf(parking)) }));
  const fronts = await Promise.all([
    findParkedAtVersions(tx, keysAt("VERSION_ORDER"), LINE_DEPTH),
    findParked(
      tx,
      deep.filter(({ depth }) => depth > 0),
    ),
    findParkedAtResources(tx, keysAt("RESOURCE_BUSY"), LINE_DEPTH),
  ]);
  return fronts.flat();
}

/** How many more of each run may be AVAILABLE. */
async function roomInShares(tx: Transaction, runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, number>> {
  if (runIds.length === 0) return new Map();
  const [{ slots }, available] = await Promise.all([loadServed(tx), countAvailable(tx, runIds)]);
  const share = fairShareOf(slots);
  return new Map(runIds.map((runId) => [runId, share - (available.get(runId) ?? 0)]));
}
