/** Draws sequences: mostly work that goes on, with rules that change and instances that die meanwhile. */

import fc from "fast-check";
import { bulk, named, nat, outcome, scope, seldom, some, someEnds, wish } from "./draw-parts.ts";
import { phrase } from "./phrases.ts";
import { KEYS, type Kind, QUEUES, RESOURCES, type Step } from "./steps.ts";

const release = fc.record({ do: named("releaseReservation"), resource: fc.constantFrom(...RESOURCES) });

/** How often each is drawn: work goes on most of the time, and rules change while it does. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: fc.record({ do: named("enqueue"), tasks: some(wish, 4) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: named("enqueueRun"), tasks: some(wish, 4), limit: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: named("enqueueLargeRun"), size: fc.integer({ min: 22, max: 24 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: named("pass") }) },
  { weight: 8, arbitrary: fc.record({ do: named("promote") }) },
  { weight: 3, arbitrary: fc.record({ do: named("sweep") }) },
  { weight: 3, arbitrary: fc.record({ do: named("rescue") }) },
  { weight: 3, arbitrary: fc.record({ do: named("passTime") }) },
  { weight: 1, arbitrary: fc.record({ do: named("passPeriod") }) },
  { weight: 10, arbitrary: fc.record({ do: named("claim"), instance: nat }) },
  { weight: 3, arbitrary: fc.record({ do: named("loseClaim", "renew"), instance: nat }) },
  { weight: 1, arbitrary: fc.record({ do: named("undoEnds"), instance: nat }) },
  { weight: 3, arbitrary: fc.record({ do: named("reconcile"), instance: nat }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: named("settle"),
      instance: nat,
      outcomes: some(outcome, 3),
      losesAnswer: seldom(5),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: named("settleOne"), instance: nat, which: nat, outcome }) },
  { weight: 4, arbitrary: fc.record({ do: named("poll", "poll", "losePoll"), instance: nat }) },
  { weight: 3, arbitrary: fc.record({ do: named("passPolls") }) },
  { weight: 1, arbitrary: fc.record({ do: named("passDeadline"), which: nat }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: named("keepHandle"), instance: nat, which: nat, losesAnswer: seldom(5) }),
  },
  { weight: 4, arbitrary: fc.record({ do: named("join"), kinds: kindsServed(), slots: slotsOfOne() }) },
  { weight: 4, arbitrary: fc.record({ do: named("crash", "expire", "expire"), instance: nat }) },
  { weight: 2, arbitrary: fc.record({ do: named("drain", "leave"), instance: nat }) },
  { weight: 4, arbitrary: fc.record({ do: named("trespass"), which: nat }) },
  { weight: 5, arbitrary: fc.record({ do: named("cancel"), which: nat, byTask: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: named("retry"), which: nat, byTask: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: named("cancelRun"), which: nat }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: named("cancelMany"),
      filter: bulk,
      status: fc.subarray(["PENDING" as const, "AVAILABLE" as const, "RUNNING" as const]),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: named("retryMany"),
      filter: bulk,
      status: fc.subarray(["FAILED" as const, "CANCELED" as const]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: named("prune"), which: nat, statuses: someEnds }) },
  { weight: 2, arbitrary: fc.record({ do: named("timeOut"), which: nat }) },
  { weight: 2, arbitrary: fc.record({ do: named("putStop", "takeOffStop"), which: nat }) },
  { weight: 8, arbitrary: fc.record({ do: named("explain"), which: nat }) },
  { weight: 4, arbitrary: fc.record({ do: named("pause", "resume", "resume"), what: scope }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: named("setWindows"),
      what: scope,
      windows: fc.constantFrom("none" as const, "none" as const, "open" as const, "closed" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: named("passWindow"), what: scope }) },
  { weight: 4, arbitrary: fc.record({ do: named("setRunLimit"), which: nat, limit: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: named("setQueue"), queue: fc.constantFrom(...QUEUES), limit: fc.nat(3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: named("setKeyLimit"),
      key: fc.constantFrom("k:*", ...KEYS),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: named("setRate"), amount: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: release },
);

function kindsServed(): fc.Arbitrary<readonly Kind[]> {
  return fc.constantFrom<readonly Kind[]>(["work"], ["work", "rare"], ["rare"]);
}

function slotsOfOne(): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max: 3 });
}

const beginning = fc.array(
  fc.record({ do: named("enqueue"), tasks: fc.array(wish, { minLength: 3, maxLength: 6 }) }),
  { minLength: 1, maxLength: 2 },
);
const rest = fc.array(
  fc.oneof({ weight: 2, arbitrary: step.map((each) => [each]) }, { weight: 1, arbitrary: phrase }),
  { minLength: 20, maxLength: 40, size: "max" },
);

export const sequence: fc.Arbitrary<readonly Step[]> = fc
  .tuple(beginning, rest)
  .map(([first, parts]) => [...first, ...parts.flat()]);
