import { limitScopesOf } from "../domain/admission.ts";
import { fairShareOf } from "../domain/fair-share.ts";
import type { Candidate, Ruled } from "../domain/gates/gate.ts";
import { pausable } from "../domain/gates/paused.ts";
import { windowed } from "../domain/gates/window.ts";
import type { RunId } from "../domain/ids.ts";
import type { PromotionSnapshot } from "../domain/promotion-snapshot.ts";
import type { ResourceName } from "../domain/resource.ts";
import type { LimitScope, QueueName } from "../domain/scope.ts";
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
  const wanted = wantedBy(candidates);
  // None needs the answer to another: they are sent together.
  const [now, served, resources, slots, available, rates, pauses, stops, windows] = await Promise.all([
    readClock(tx),
    known?.served ?? loadServed(tx),
    loadResources(tx, [...wanted.resources]),
    loadTakenSlots(
      tx,
      [...wanted.slots.keys()].filter((scope) => known?.slots.has(scope) !== true),
    ),
    countAvailable(tx, [...wanted.runIds], known === null ? 0 : fairShareOf(known.served.slots)),
    loadRates(tx, [...wanted.rates], candidates.length),
    loadPauses(tx, pausable(wanted)),
    loadStops(
      tx,
      candidates.map(({ taskId }) => taskId),
    ),
    loadWindows(tx, windowed(wanted)),
  ]);
  const taken = new Map([...(known?.slots ?? []), ...slots]);
  return {
    now,
    candidates,
    resources,
    limits: await loadFreeSlots(tx, taken, (scope) => wanted.slots.get(scope) ?? 0),
    available,
    fairShare: fairShareOf(served.slots),
    rates,
    pauses,
    stops,
    windows: new Map([...windows].map(([scope, stored]) => [scope, judgeStored(stored, now)])),
    servedKinds: served.kinds,
  };
}

interface Wanted extends Ruled {
  readonly queues: ReadonlySet<QueueName>;
  readonly runIds: ReadonlySet<RunId>;
  readonly resources: ReadonlySet<ResourceName>;
  readonly rates: ReadonlySet<string>;
  /** How many want a slot of it. */
  readonly slots: ReadonlyMap<LimitScope, number>;
}

/** Each once, however many candidates name it. */
function wantedBy(candidates: readonly Candidate[]): Wanted {
  const queues = new Set<QueueName>();
  const runIds = new Set<RunId>();
  const resources = new Set<ResourceName>();
  const rates = new Set<string>();
  const slots = new Map<LimitScope, number>();
  for (const candidate of candidates) {
    queues.add(candidate.queue);
    if (candidate.runId !== null) runIds.add(candidate.runId);
    for (const { name } of candidate.resources) resources.add(name);
    if (candidate.rate !== null) rates.add(candidate.rate);
    for (const scope of limitScopesOf(candidate)) slots.set(scope, (slots.get(scope) ?? 0) + 1);
  }
  return { queues, runIds, resources, rates, slots };
}
