import { limitScopesOf } from "../domain/admission.ts";
import { fairShareOf } from "../domain/fair-share.ts";
import type { Candidate } from "../domain/gates/gate.ts";
import { pausable } from "../domain/gates/paused.ts";
import { windowed } from "../domain/gates/window.ts";
import type { PromotionSnapshot } from "../domain/promotion-snapshot.ts";
import type { Transaction } from "./database.ts";
import { countAvailable, loadLimits } from "./holds/limits.ts";
import { loadRates } from "./holds/rates.ts";
import { loadResources } from "./holds/resources.ts";
import { judgeStored, loadPauses, loadServed, loadStops, loadWindows } from "./rules/load.ts";
import { readClock } from "./task-runs/explain.ts";

/** All that the gates of these candidates look at. The same for the promoter and for `explain`, so that they agree. */
export async function loadPromotionSnapshot(
  tx: Transaction,
  candidates: readonly Candidate[],
): Promise<PromotionSnapshot> {
  const names = <Item>(pick: (candidate: Candidate) => readonly Item[]): readonly Item[] => [
    ...new Set(candidates.flatMap(pick)),
  ];
  // None needs the answer to another: they are sent together.
  const [now, served, resources, limits, available, rates, pauses, stops, windows] = await Promise.all([
    readClock(tx),
    loadServed(tx),
    loadResources(
      tx,
      names((candidate) => candidate.resources.map(({ name }) => name)),
    ),
    loadLimits(tx, names(limitScopesOf), candidates.length),
    countAvailable(
      tx,
      names(({ runId }) => (runId === null ? [] : [runId])),
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
  return {
    now,
    candidates,
    resources,
    limits,
    available,
    fairShare: fairShareOf(served.slots),
    rates,
    pauses,
    stops,
    windows: new Map([...windows].map(([scope, stored]) => [scope, judgeStored(stored, now)])),
    servedKinds: served.kinds,
  };
}
