/** What steps are drawn from: tasks, scopes, outcomes. */

import fc from "fast-check";
import {
  type Bulk,
  type Ended,
  KEYS,
  KINDS,
  type Kind,
  OUTCOMES,
  type OutcomeName,
  QUEUES,
  RESOURCES,
  type Scope,
  type Step,
  type Wish,
} from "./steps.ts";

export const nat = fc.nat(50);
export const seldom = (one: number): fc.Arbitrary<boolean> => fc.nat(one).map((n) => n === 1);
const mode = fc.constantFrom("exclusive" as const, "shared" as const);
const resources = fc.uniqueArray(fc.record({ name: fc.constantFrom(...RESOURCES), mode }), {
  maxLength: 2,
  selector: ({ name }) => name,
});

export const wish: fc.Arbitrary<Wish> = fc
  .record({
    kind: fc.constantFrom<Kind>("work", "work", "work", "work", "rare"),
    queue: fc.constantFrom(...QUEUES),
    priority: fc.integer({ min: 4, max: 6 }),
    resources,
    version: fc.option(fc.constantFrom("1", "2", "2.1", "10"), { freq: 2 }),
    // Most may, or after the largest version nobody with another one would start.
    outOfOrder: fc.constantFrom(true, true, true, false),
    concurrencyKey: fc.option(fc.constantFrom(...KEYS), { freq: 3 }),
    rated: seldom(2),
    stopped: seldom(9),
    later: seldom(7),
    attempts: fc.integer({ min: 1, max: 3 }),
    backsOff: seldom(3),
    onLost: fc.constantFrom<Wish["onLost"]>("retry", "retry", "retry", "resume", "fail"),
    timesOut: seldom(4),
  })
  .map((drawn) => ({ ...drawn, version: drawn.resources.length === 0 ? null : drawn.version }));

export const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ queue: fc.constantFrom(...QUEUES) }),
  fc.record({ resource: fc.constantFrom(...RESOURCES) }),
  fc.record({ run: nat }),
);
export const outcome = fc.constantFrom<OutcomeName>(
  "success",
  "plainSuccess",
  "plainSuccess",
  "failure",
  ...OUTCOMES,
);
export const named = <Name extends Step["do"]>(...names: readonly Name[]): fc.Arbitrary<Name> =>
  fc.constantFrom(...names);

/** Most name the newest tasks, some two of them the same. */
const ids = fc.array(fc.record({ which: fc.nat(8), byTask: fc.boolean() }), { minLength: 1, maxLength: 6 });

export const bulk: fc.Arbitrary<Bulk> = fc.oneof(
  fc.record({ ids, run: fc.constant(null), kind: fc.constant(null) }),
  fc.record({ ids: fc.constant(null), run: nat, kind: fc.constant(null) }),
  fc.record({
    ids: fc.option(ids),
    run: fc.option(nat, { freq: 1 }),
    kind: fc.option(fc.constantFrom(...KINDS)),
  }),
);

export const someEnds: fc.Arbitrary<Ended[]> = fc.subarray<Ended>(["DONE", "FAILED", "CANCELED"], {
  minLength: 1,
});

export function some<Item>(item: fc.Arbitrary<Item>, most: number): fc.Arbitrary<Item[]> {
  return fc.array(item, { minLength: 1, maxLength: most });
}
