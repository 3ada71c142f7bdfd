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
import { loadPauses, loadServed, loadStops, loadWindows } from "./rules/load.ts";
import { readClock } from "./task-runs/explain.ts";

/** All that the gates of these candidates look at. The same for the promoter and for `explain`, so that they agree. */
export async function loadPromotionSnapshot(
  tx: Transaction,
  candidates: readonly Candidate[],
): Promise<PromotionSnapshot> {
  const now = await readClock(tx);
  const names = <Item>(pick: (candidate: Candidate) => readonly Item[]): readonly Item[] => [
    ...new Set(candidates.flatMap(pick)),
  ];
  const served = await loadServed(tx);
  return {
    now,
    candidates,
    resources: await loadResources(
      tx,
      names(({ resources }) => resources.map(({ name }) => name)),
    ),
    limits: await loadLimits(tx, names(limitScopesOf), candidates.length),
    available: await countAvailable(
      tx,
      names(({ runId }) => (runId === null ? [] : [runId])),
    ),
    fairShare: fairShareOf(served.slots),
    rates: await loadRates(
      tx,
      names(({ rate }) => (rate === null ? [] : [rate])),
      candidates.length,
    ),
    pauses: await loadPauses(tx, names(pausable)),
    stops: await loadStops(
      tx,
      names(({ taskId }) => [taskId]),
    ),
    windows: await loadWindows(tx, names(windowed), now),
    servedKinds: served.kinds,
  };
}
