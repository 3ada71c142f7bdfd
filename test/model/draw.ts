/** Draws sequences: mostly work that goes on, with rules that change and instances that die meanwhile. */

import fc from "fast-check";
import {
  KEYS,
  KINDS,
  type Kind,
  OUTCOMES,
  type OutcomeName,
  PLAIN,
  QUEUES,
  RESOURCES,
  type Scope,
  type Step,
  type Wish,
} from "./steps.ts";

const nat = fc.nat(50);
const seldom = (one: number): fc.Arbitrary<boolean> => fc.nat(one).map((n) => n === 1);
const mode = fc.constantFrom("exclusive" as const, "shared" as const);
const resources = fc.uniqueArray(fc.record({ name: fc.constantFrom(...RESOURCES), mode }), {
  maxLength: 2,
  selector: ({ name }) => name,
});

/**
 * Somebody waits in two lines for one of the resources, and one who came later goes first at the other: its version is
 * smaller. On resources of their own, where nobody else comes in between.
 */
const OVERTAKING: readonly Step[] = [
  { ...PLAIN, resources: [{ name: "x", mode: "exclusive" as const }] },
  {
    ...PLAIN,
    resources: [
      { name: "x", mode: "exclusive" as const },
      { name: "y", mode: "exclusive" as const },
    ],
    version: "2",
  },
  { ...PLAIN, resources: [{ name: "y", mode: "shared" as const }], version: "1" },
].flatMap((task): readonly Step[] => [{ do: "enqueue", tasks: [task] }, { do: "promote" }]);

const wish: fc.Arbitrary<Wish> = fc
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
    onLost: fc.constantFrom<Wish["onLost"]>("retry", "retry", "retry", "retry", "fail"),
    timesOut: seldom(4),
  })
  .map((drawn) => ({ ...drawn, version: drawn.resources.length === 0 ? null : drawn.version }));

const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ queue: fc.constantFrom(...QUEUES) }),
  fc.record({ resource: fc.constantFrom(...RESOURCES) }),
  fc.record({ run: nat }),
);
const outcome = fc.constantFrom<OutcomeName>("success", "success", "failure", ...OUTCOMES);
const named = <Name extends Step["do"]>(...names: readonly Name[]): fc.Arbitrary<Name> =>
  fc.constantFrom(...names);

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
  { weight: 4, arbitrary: fc.record({ do: named("join"), kinds: kindsServed(), slots: slotsOfOne() }) },
  { weight: 4, arbitrary: fc.record({ do: named("crash", "expire", "expire"), instance: nat }) },
  { weight: 2, arbitrary: fc.record({ do: named("drain", "leave"), instance: nat }) },
  { weight: 4, arbitrary: fc.record({ do: named("trespass"), which: nat }) },
  { weight: 5, arbitrary: fc.record({ do: named("cancel"), which: nat, byTask: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: named("retry"), which: nat, byTask: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: named("cancelRun"), which: nat }) },
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

function some<Item>(item: fc.Arbitrary<Item>, most: number): fc.Arbitrary<Item[]> {
  return fc.array(item, { minLength: 1, maxLength: most });
}

function kindsServed(): fc.Arbitrary<readonly Kind[]> {
  return fc.constantFrom<readonly Kind[]>(["work"], ["work", "rare"], ["rare"]);
}

function slotsOfOne(): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max: 3 });
}

/** Of what came last. */
const CANCELS: readonly Step[] = [0, 1, 2, 3, 4, 5, 6, 7].map((which) => ({
  do: "cancel",
  which,
  byTask: true,
}));

const RELEASES: readonly Step[] = RESOURCES.map((resource) => ({ do: "releaseReservation", resource }));

/** Steps that mean little without each other; drawn one by one they would seldom meet. */
const phrase: fc.Arbitrary<readonly Step[]> = fc
  .record({
    instance: nat,
    which: nat,
    outcomes: some(outcome, 3),
    what: scope,
    tasks: some(wish, 4),
  })
  .chain(({ instance, which, outcomes, what, tasks }) => {
    const promote: Step = { do: "promote" };
    const take: readonly Step[] = [promote, { do: "claim", instance }];
    const lose: readonly Step[] = [
      { do: "expire", instance },
      { do: "rescue" },
      { do: "join", kinds: KINDS, slots: 3 },
    ];
    const settle: Step = { do: "settle", instance, outcomes, losesAnswer: which % 4 === 0 };
    const reconcile: Step = { do: "reconcile", instance };
    return fc.constantFrom<readonly Step[]>(
      take,
      take,
      take,
      [{ do: "enqueue", tasks }, ...take],
      [...take, settle],
      [...take, { do: "settle", instance, outcomes: ["deferral"], losesAnswer: false }, promote],
      [...take, { do: "trespass", which }],
      [...take, ...lose, settle],
      [...take, ...lose, promote, ...RELEASES, promote],
      [...take, ...lose, ...RELEASES, promote],
      [...take, { do: "crash", instance }, ...lose, promote],
      [...take, { do: "cancel", which: 0, byTask: true }, reconcile, settle],
      [...take, { do: "cancelRun", which }, ...lose],
      [
        { do: "enqueueRun", tasks, limit: 1 },
        { do: "cancelRun", which: 0 },
        { do: "retry", which: 0, byTask: true },
      ],
      [promote, { do: "loseClaim", instance }, reconcile],
      [promote, { do: "loseClaim", instance }, ...CANCELS, reconcile],
      [...take, ...lose, reconcile],
      // What it gave back before it was lost runs elsewhere.
      [
        ...take,
        { do: "settleOne", instance, which, outcome: "deferral" },
        promote,
        { do: "claim", instance: instance + 1 },
        ...lose,
      ],
      [{ do: "pause", what }, promote, { do: "resume", what }, promote],
      [{ do: "setWindows", what, windows: "closed" }, promote, { do: "setWindows", what, windows: "none" }],
      [promote, { do: "timeOut", which }, promote],
      [{ do: "expire", instance }, ...[0, 1, 2].map((each): Step => ({ do: "renew", instance: each }))],
      [
        ...take,
        { do: "setRunLimit", which, limit: 1 },
        promote,
        { do: "setRunLimit", which, limit: 0 },
        promote,
      ],
      ...QUEUES.map((queue): readonly Step[] => [
        { do: "setQueue", queue, limit: 1 },
        promote,
        { do: "setQueue", queue, limit: which % 3 },
        promote,
      ]),
      [promote, { do: "setKeyLimit", key: "k:*", limit: 3 }, promote],
      [promote, { do: "setRate", amount: 3 }, promote],
      OVERTAKING,
      // Until nobody believes any more that it is the instances' fault.
      Array.from({ length: 4 }, () => [...take, ...lose]).flat(),
    );
  });

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
