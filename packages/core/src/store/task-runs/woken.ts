import { limitScopeAt, type Parking } from "../../domain/waiting-cause.ts";
import type { Transaction } from "../database.ts";
import { loadLimits } from "../holds/limits.ts";
import { LINE_DEPTH } from "../holds/resources.ts";
import { findParked, findParkedAtResources, findParkedAtVersions, type ParkedFront } from "./parked.ts";

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
  const limits = await loadLimits(
    tx,
    elsewhere.flatMap((parking) => limitScopeAt(parking) ?? []),
    0,
  );
  const deep = elsewhere.map((parking) => {
    const scope = limitScopeAt(parking);
    const limit = scope === null ? undefined : limits.get(scope);
    if (limit === undefined || limit.limit === 0) return { ...parking, depth: batchSize };
    // Twice as many as have room: some of those that find a slot are held up by a resource.
    const room = Math.max(0, limit.limit - limit.active);
    return { ...parking, depth: Math.min(batchSize, 2 * room) };
  });
  return [
    ...(await findParkedAtVersions(tx, keysAt("VERSION_ORDER"), LINE_DEPTH)),
    ...(await findParked(
      tx,
      deep.filter(({ depth }) => depth > 0),
    )),
    ...(await findParkedAtResources(tx, keysAt("RESOURCE_BUSY"), LINE_DEPTH)),
  ];
}
