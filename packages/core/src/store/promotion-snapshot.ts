import { limitScopesOf } from "../domain/admission.ts";
import { fairShareOf } from "../domain/fair-share.ts";
import type { Candidate } from "../domain/gates/gate.ts";
import { pausable } from "../domain/gates/paused.ts";
import { windowed } from "../domain/gates/window.ts";
import type { PromotionSnapshot } from "../domain/promotion-snapshot.ts";
import type { LimitScope } from "../domain/scope.ts";
import type { Transaction } from "./database.ts";
import { countAvailable, loadFreeSlots, loadTakenSlots, type TakenSlots } from "./holds/limits.ts";
import { loadRates } from "./holds/rates.ts";
import { loadResources } from "./holds/resources.ts";
import { judgeStored, loadPauses, loadServed, loadStops, loadWindows, type Served } from "./rules/load.ts";
import { readClock } from "./task-runs/explain.ts";

/** What a pass has read already, under the same lock: what was given back since is woken for the next one. */
interface Known {
  readonly served: Served;
  readonly slots: ReadonlyMap<LimitScope, TakenSlots>;
}

/** All that the gates of these candidates look at. The same for the promoter and for `explain`, so that they agree. */
export async function loadPromotionSnapshot(
  tx: Transaction,
  candidates: readonly Candidate[],
  known: Known | null = null,
): Promise<PromotionSnapshot> {
  const names = <Item>(pick: (candidate: Candidate) => readonly Item[]): readonly Item[] => {
    const all = new Set<Item>();
    for (const candidate of candidates) for (const item of pick(candidate)) all.add(item);
    return [...all];
  };
  const wanted = countEach(candidates.flatMap(limitScopesOf));
  // None needs the answer to another: they are sent together.
  const [now, served, resources, slots, available, rates, pauses, stops, windows] = await Promise.all([
    readClock(tx),
    known?.served ?? loadServed(tx),
    loadResources(
      tx,
      names((candidate) => candidate.resources.map(({ name }) => name)),
    ),
    loadTakenSlots(
      tx,
      [...wanted.keys()].filter((scope) => known?.slots.has(scope) !== true),
    ),
    countAvailable(
      tx,
      names(({ runId }) => (runId === null ? [] : [runId])),
      known === null ? 0 : fairShareOf(known.served.slots),
    ),
    loadRates(
      tx,
      names(({ rate }) => (rate === null ? [] : [rate])),
      candidates.length,
    ),
    loadPauses(tx, names(pausable)),
    loadStops(
      tx,
      names(({ taskId }) => [taskId]),
    ),
    loadWindows(tx, names(windowed)),
  ]);
  const taken = new Map([...(known?.slots ?? []), ...slots]);
  return {
    now,
    candidates,
    resources,
    limits: await loadFreeSlots(tx, taken, (scope) => wanted.get(scope) ?? 0),
    available,
    fairShare: fairShareOf(served.slots),
    rates,
    pauses,
    stops,
    windows: new Map([...windows].map(([scope, stored]) => [scope, judgeStored(stored, now)])),
    servedKinds: served.kinds,
  };
}

function countEach<Item>(items: readonly Item[]): ReadonlyMap<Item, number> {
  const counts = new Map<Item, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
