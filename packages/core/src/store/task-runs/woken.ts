import { asRunId } from "../../domain/ids.ts";
import type { ParkedFront } from "../../domain/promotion-wakes.ts";
import type { LimitScope } from "../../domain/scope.ts";
import { limitScopeAt, type Parking } from "../../domain/waiting-cause.ts";
import type { Transaction } from "../database.ts";
import { countAvailable, loadTakenSlots, type TakenSlots } from "../holds/limits.ts";
import { LINE_DEPTH } from "../holds/resources.ts";
import { findParked, findParkedAtResources, findParkedAtVersions } from "./parked.ts";

export interface Fronts {
  readonly fronts: readonly ParkedFront[];
  /** What was looked at to find them. */
  readonly slots: ReadonlyMap<LimitScope, TakenSlots>;
}

/** Those parked where something may have opened: the front of each, as far as it can be let go. */
export async function findFronts(
  tx: Transaction,
  woken: readonly Parking[],
  { batchSize, fairShare }: { readonly batchSize: number; readonly fairShare: number },
): Promise<Fronts> {
  const keysAt = (gate: Parking["blockedOn"]): readonly string[] =>
    woken.filter(({ blockedOn }) => blockedOn === gate).map(({ blockedKey }) => blockedKey);
  const elsewhere = woken.filter(
    ({ blockedOn }) => blockedOn !== "VERSION_ORDER" && blockedOn !== "RESOURCE_BUSY",
  );
  // Sent with what says how deep to look elsewhere, and not behind its answer: the server finds them meanwhile.
  const [atLimits, atVersions, atResources] = await Promise.all([
    findElsewhere(tx, elsewhere, { batchSize, fairShare }),
    findParkedAtVersions(tx, keysAt("VERSION_ORDER"), LINE_DEPTH),
    findParkedAtResources(tx, keysAt("RESOURCE_BUSY"), LINE_DEPTH),
  ]);
  return { fronts: [...atVersions, ...atLimits.fronts, ...atResources], slots: atLimits.slots };
}

async function findElsewhere(
  tx: Transaction,
  woken: readonly Parking[],
  { batchSize, fairShare }: { readonly batchSize: number; readonly fairShare: number },
): Promise<Fronts> {
  const [slots, available] = await Promise.all([
    loadTakenSlots(
      tx,
      woken.flatMap((parking) => limitScopeAt(parking) ?? []),
    ),
    countAvailable(
      tx,
      woken.flatMap(({ blockedOn, blockedKey }) => (blockedOn === "FAIR_SHARE" ? [asRunId(blockedKey)] : [])),
      fairShare,
    ),
  ]);
  const depthOf = (parking: Parking): number => {
    // At least one: a claim that commits at this moment wakes nobody, so somebody must find out when to look again.
    if (parking.blockedOn === "FAIR_SHARE")
      return Math.max(1, 2 * (fairShare - (available.get(asRunId(parking.blockedKey)) ?? 0)));
    const scope = limitScopeAt(parking);
    const limit = scope === null ? undefined : slots.get(scope);
    if (limit === undefined || limit.limit === 0) return batchSize;
    // Twice as many as have room: some of those that find a slot are held up by a resource.
    return 2 * Math.max(0, limit.limit - limit.active);
  };
  const deep = woken.map((parking) => ({ ...parking, depth: Math.min(batchSize, depthOf(parking)) }));
  const fronts = await findParked(
    tx,
    deep.filter(({ depth }) => depth > 0),
  );
  return { fronts, slots };
}
